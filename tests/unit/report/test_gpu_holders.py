from dataclasses import replace

import pytest
from rich.cells import cell_len

from lowwater.model import NotMeasured
from lowwater.model.gpu_holders import HeldGpu
from lowwater.model.gpus import Gpu, GpuProcess
from lowwater.model.processes import Process
from lowwater.report.gpu_holders import need_of, shortened, who_holds

GIB = 1 << 30
TRAINS = Process(7, 0.0, 60.0, "ann", True, ("python", "train.py"), False, 0.0)
GPU = Gpu(0, "A", "GPU-0", 8 * GIB, 7 * GIB, GIB, (GpuProcess(7, 7 * GIB),), 0)


def test_holder_is_named_with_command_and_user():
    assert who_holds(GPU, {7: TRAINS}) == (
        "process 7 (python train.py, user ann) holds 7.0 GiB of GPU 0"
    )


@pytest.mark.parametrize("process", [None, NotMeasured("the process has ended")])
def test_holder_that_is_not_known_is_named_by_its_number(process):
    assert who_holds(GPU, {7: process}) == "process 7 holds 7.0 GiB of GPU 0"


def test_holder_without_bytes_is_not_given_any():
    gpu = replace(GPU, processes=(GpuProcess(7, NotMeasured("hidden")),))

    assert who_holds(gpu, {7: TRAINS}) == (
        "process 7 (python train.py, user ann) is on GPU 0; "
        "7.0 GiB of GPU 0 is used, but by no process in the list: hidden"
    )


def test_many_holders_are_counted_after_the_largest_three():
    gpu = replace(GPU, processes=tuple(GpuProcess(pid, GIB) for pid in range(1, 8)))

    assert who_holds(gpu, {}) == (
        "process 1 holds 1.0 GiB of GPU 0; process 2 holds 1.0 GiB of GPU 0; "
        "process 3 holds 1.0 GiB of GPU 0; 4 more processes"
    )


def test_gpu_without_holders_says_so():
    assert who_holds(replace(GPU, used_bytes=0, processes=()), {}) == (
        "no process holds memory of GPU 0"
    )


def test_long_command_is_shortened_between_words():
    process = replace(TRAINS, arguments=("python", "train.py", *["--epochs"] * 20))

    assert who_holds(GPU, {7: process}).startswith(
        "process 7 (python train.py --epochs --epochs …, user ann)"
    )


@pytest.mark.parametrize("width", range(8, 40))
@pytest.mark.parametrize("text", ["a bc def ghij klmno pqrstu", "x" * 50, "火" * 30 + " ab"])
def test_shortened_text_fits_and_ends_with_a_whole_word(text, width):
    short = shortened(text, width, cell_len)

    assert cell_len(short) <= width
    if short.endswith(" …"):
        assert text.startswith(f"{short.removesuffix('…')}")
    else:
        assert text.startswith(short.removesuffix("…"))


def test_need_is_met_to_the_byte():
    gpus = (HeldGpu(GPU, ()),)

    assert need_of(GIB, gpus).is_met
    assert not need_of(GIB + 1, gpus).is_met


def test_gpu_that_does_not_answer_meets_no_need():
    need = need_of(1, (NotMeasured("lost"), HeldGpu(replace(GPU, free_bytes=0), ())))

    assert not need.is_met
    assert need.because == (
        "No GPU has 1 B free. GPU 0 is not measured: lost. "
        "GPU 0 has 0 B free, 1 B too little: process 7 holds 7.0 GiB of GPU 0."
    )


def test_without_a_gpu_the_reason_is_told():
    need = need_of(1, NotMeasured("no NVIDIA driver was found"))

    assert (need.is_met, need.because) == (False, "No GPU to show: no NVIDIA driver was found.")
