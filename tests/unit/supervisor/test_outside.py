"""How often a program is looked at from outside, and the driver of its GPUs with it."""

import os

import pytest

from lowwater.model.gpus import Gpu, GpuProcess
from lowwater.supervisor import gpu_watch
from lowwater.supervisor.gpu_watch import GpuWatch
from lowwater.supervisor.supervisor import Outside

MIB = 1 << 20


class CountingDriver:
    """Stands for NVML: a GPU on which a program takes what the test says."""

    def __init__(self):
        self.asked = 0
        self.used_bytes = 0

    def gpus(self):
        self.asked += 1
        used = (GpuProcess(os.getpid(), self.used_bytes),) if self.used_bytes else ()
        return (Gpu(0, "A", "GPU-a", 1024 * MIB, self.used_bytes, 1024 * MIB, used, 0),)

    def close(self):
        """Nothing is open."""


@pytest.fixture
def driver(monkeypatch):
    counting = CountingDriver()
    monkeypatch.setattr(gpu_watch, "Driver", CountingDriver)
    monkeypatch.setattr(CountingDriver, "opened", lambda: counting, raising=False)
    return counting


@pytest.fixture
def watch(driver):
    return GpuWatch(os.getpid(), lambda _: None, lambda _: "")


def looks_within(watch, seconds, every_s=0.01):
    outside = Outside(os.getpid())
    for number in range(round(seconds / every_s)):
        outside.look(number * every_s, watch.look)


def test_driver_is_asked_twice_a_second_however_often_the_supervisor_wakes(driver, watch):
    looks_within(watch, 20)

    assert driver.asked == 40


def test_driver_of_a_long_run_is_asked_ever_more_rarely(driver, watch):
    looks_within(watch, 24 * 3600, every_s=0.5)

    # Half as often whenever so many looks are kept.
    assert driver.asked < 512 * 10


def test_nothing_is_kept_where_nothing_has_changed(driver, watch):
    looks_within(watch, 5)
    driver.used_bytes = 64 * MIB
    looks_within(watch, 5)

    _, *looks = watch.records
    assert [type(one).__name__ for one in looks] == ["GpuSeen"] * 3
    # Both ends of the first five seconds, and what came then.
    assert [one.ours_bytes for one in looks] == [0, 0, 64 * MIB]
    assert looks[0].elapsed_us < looks[1].elapsed_us < 5_000_000


def test_driver_that_is_not_there_is_tried_once(monkeypatch, watch):
    tried = []

    def opened():
        tried.append(None)
        return gpu_watch.NotMeasured("no NVIDIA driver was found")

    monkeypatch.setattr(CountingDriver, "opened", opened)
    looks_within(watch, 20)

    assert len(tried) == 1
    assert [(one.probe, one.why) for one in watch.records] == [
        ("driver", "no NVIDIA driver was found")
    ]
