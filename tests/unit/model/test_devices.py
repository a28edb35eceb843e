import pytest

from lowwater.model import NotMeasured
from lowwater.model.devices import Device, gpu_of
from lowwater.model.gpus import Gpu, GpuProcess


def gpu(index, name="A", processes=()):
    return Gpu(index, name, f"GPU-{index}abc", 100, 50, 50, processes, 0)


TWO = (gpu(0), gpu(1))


def device(physical=0, visible=None, order=None):
    return Device("GPU:0", "TensorFlow", physical, visible=visible, order=order)


@pytest.mark.parametrize(
    ("physical", "visible", "index"),
    [(0, None, 0), (1, None, 1), (0, "1", 1), (1, "1,0", 0), (0, " GPU-1a", 1)],
)
def test_device_is_the_gpu_that_cuda_shows_the_process(physical, visible, index):
    found = gpu_of(device(physical, visible), TWO)

    assert isinstance(found, Gpu)
    assert found.index == index


@pytest.mark.parametrize(
    ("physical", "visible"), [(2, None), (1, "1"), (0, ""), (0, "7"), (0, "GPU-"), (0, "MIG-1")]
)
def test_device_that_matches_no_gpu_or_two_is_not_guessed(physical, visible):
    assert isinstance(gpu_of(device(physical, visible), TWO), NotMeasured)


def test_gpus_of_several_kinds_are_told_apart_only_in_the_order_of_the_bus():
    mixed = (gpu(0, "A"), gpu(1, "B"))

    assert isinstance(gpu_of(device(1), mixed), NotMeasured)
    assert gpu_of(device(1, order="PCI_BUS_ID"), mixed) == mixed[1]
    assert gpu_of(device(0, visible="GPU-1a"), mixed) == mixed[1]


def test_framework_that_does_not_tell_its_gpu_is_quoted():
    assert gpu_of(device(None), TWO) == NotMeasured("TensorFlow does not report which GPU GPU:0 is")


def test_bytes_of_several_processes_are_added():
    one = gpu(0, processes=(GpuProcess(1, 10), GpuProcess(2, 20), GpuProcess(3, 40)))

    assert one.used_by({1, 3}) == 50
    assert one.used_by({9}) == 0


def test_one_unknown_part_makes_the_sum_unknown():
    unknown = NotMeasured("why")
    one = gpu(0, processes=(GpuProcess(1, 10), GpuProcess(2, unknown)))

    assert one.used_by({1, 2}) == unknown
    assert one.used_by({1}) == 10
    assert gpu(0, processes=unknown).used_by({1}) == unknown
