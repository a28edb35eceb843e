from dataclasses import replace

import pytest

from lowwater.model import NotMeasured
from lowwater.model.gpu_holders import Glance, ToFree
from lowwater.model.gpus import Gpu, GpuProcess
from lowwater.model.processes import Process
from lowwater.verdict.gpu_holders import held, to_free

TRAINS = Process(7, 100.0, 60.0, "ann", True, ("python", "train.py"), False, 5.0)
GPU = Gpu(0, "A", "GPU-0", 1000, 300, 700, (GpuProcess(7, 300),), 0)


def looked_twice(first=TRAINS, second=TRAINS, before=GPU, after=GPU):
    [one] = held(Glance(0.0, (before,), {7: first}), Glance(0.5, (after,), {7: second}))
    return one.holders[0]


def test_process_that_does_nothing_on_a_gpu_that_does_nothing_looks_idle():
    holder = looked_twice()

    assert holder.looks_idle is True
    assert holder.because == "GPU 0 is 0 % busy, and it used 0 ms of processor time in 500 ms"
    assert holder.is_marked


def test_kernel_that_wakes_up_now_and_then_looks_idle():
    assert looked_twice(second=replace(TRAINS, cpu_s=5.01)).looks_idle is True


def test_process_that_uses_the_processor_is_not_idle():
    holder = looked_twice(second=replace(TRAINS, cpu_s=5.4))

    assert holder.looks_idle is False
    assert holder.because == "it used 400 ms of processor time in 500 ms"
    assert not holder.is_marked


@pytest.mark.parametrize("look", ["before", "after"])
def test_process_on_a_gpu_that_computes_is_not_idle(look):
    holder = looked_twice(**{look: replace(GPU, utilization=40)})

    assert (holder.looks_idle, holder.because) == (False, "GPU 0 is 40 % busy")


def test_without_the_utilization_nobody_is_called_idle():
    holder = looked_twice(after=replace(GPU, utilization=NotMeasured("MIG")))

    assert holder.looks_idle == NotMeasured("the utilization of GPU 0 is not measured: MIG")
    assert not holder.is_marked


def test_process_that_was_seen_once_is_not_called_idle():
    [one] = held(Glance(0.0, (), {}), Glance(0.5, (GPU,), {7: TRAINS}))

    assert one.holders[0].looks_idle == NotMeasured("seen only once")


def test_another_process_with_the_same_number_is_not_called_idle():
    assert looked_twice(first=replace(TRAINS, began_s=1.0)).looks_idle == NotMeasured(
        "seen only once"
    )


def test_process_whose_processor_time_is_hidden_is_not_called_idle():
    hidden = replace(TRAINS, cpu_s=NotMeasured("hidden"))

    assert looked_twice(first=hidden).looks_idle == NotMeasured("hidden")
    assert looked_twice(second=hidden).looks_idle == NotMeasured("hidden")


def test_process_that_has_ended_meanwhile_needs_no_advice():
    holder = looked_twice(second=NotMeasured("the process has ended"))

    assert (holder.looks_idle, holder.to_free) == (NotMeasured("the process has ended"), None)
    assert not holder.is_marked


def test_orphan_that_works_is_marked_and_not_called_idle():
    holder = looked_twice(second=replace(TRAINS, cpu_s=5.4, is_parent_gone=True))

    assert holder.looks_idle is False
    assert holder.is_marked


def test_parent_that_is_not_known_is_no_mark():
    unknown = replace(TRAINS, cpu_s=5.4, is_parent_gone=NotMeasured("init"))

    assert not looked_twice(second=unknown).is_marked


def test_largest_holder_comes_first_and_unknown_bytes_last():
    processes = (GpuProcess(1, NotMeasured("no")), GpuProcess(2, 5), GpuProcess(3, 50))
    gpu = replace(GPU, processes=processes)

    [one] = held(Glance(0.0, (gpu,), {}), Glance(0.5, (gpu,), {}))

    assert [holder.on_gpu.pid for holder in one.holders] == [3, 2, 1]


def test_gpu_that_does_not_answer_keeps_its_reason():
    lost = NotMeasured("lost")

    assert held(Glance(0.0, (GPU,), {}), Glance(0.5, lost, {})) == lost
    assert held(Glance(0.0, (GPU,), {}), Glance(0.5, (lost,), {})) == (lost,)


def test_list_that_is_not_given_gives_no_holders():
    gpu = replace(GPU, processes=NotMeasured("no"))

    [one] = held(Glance(0.0, (gpu,), {}), Glance(0.5, (gpu,), {}))

    assert one.holders == NotMeasured("no")


KERNEL = ("python", "-m", "ipykernel_launcher", "-f", "k.json")
CALL = "import sys\nfrom lowwater.isolation.local.server import main\nmain(4711, 3, [])\n"


@pytest.mark.parametrize(
    ("changed", "action"),
    [
        ({}, ToFree("end the process", "kill 7")),
        ({"arguments": KERNEL}, ToFree("restart or shut down the kernel")),
        (
            {"arguments": ("python", "-c", CALL)},
            ToFree("end the isolated call of process 4711", "kill 7"),
        ),
        ({"is_own_user": False}, ToFree("ask user ann")),
        ({"is_own_user": False, "arguments": KERNEL}, ToFree("ask user ann")),
        ({"is_own_user": NotMeasured("no"), "user": NotMeasured("no")}, ToFree("ask its user")),
    ],
)
def test_what_frees_the_memory_depends_on_whose_it_is(changed, action):
    assert to_free(replace(TRAINS, **changed)) == action
