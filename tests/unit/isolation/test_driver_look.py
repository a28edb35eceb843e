import os

import pytest

from lowwater.isolation.local import driver_look
from lowwater.isolation.outcome import DriverStory, MemoryStory, TrialOutcome
from lowwater.model import NotMeasured
from lowwater.model.gpus import Gpu, GpuProcess

MIB = 1 << 20


def a_gpu(*processes, used_bytes=None, index=0):
    listed = tuple(GpuProcess(pid, size) for pid, size in processes)
    used = sum(size for _, size in processes) if used_bytes is None else used_bytes
    return Gpu(index, "a GPU", "GPU-0", 1024 * MIB, used, 1024 * MIB - used, listed, 0)


@pytest.fixture
def looks(monkeypatch):
    """Lets the driver give these answers, one after the other, and no time pass between them."""

    def play(*answers):
        left = list(answers)
        monkeypatch.setattr(driver_look, "gpus_now", lambda: left.pop(0))
        monkeypatch.setattr(driver_look.time, "sleep", lambda _: None)
        return left

    return play


def test_bytes_that_come_back_a_moment_later_are_waited_for(looks):
    left = looks((a_gpu((7, 50 * MIB)),), (a_gpu((7, 50 * MIB)),), (a_gpu(),))

    [story] = driver_look.given_back((a_gpu(),), 7, {0: 50 * MIB}).values()

    assert not left
    assert story == DriverStory(50 * MIB, 0, 1024 * MIB, 1024 * MIB)


def test_bytes_that_never_come_back_are_told_after_a_while(looks, monkeypatch):
    monkeypatch.setattr(driver_look, "_LONGEST_S", 0.0)
    looks((a_gpu((7, 50 * MIB)),))

    story = driver_look.given_back((a_gpu(),), 7, {0: 50 * MIB})

    assert story["GPU 0"].left_bytes == 50 * MIB
    outcome = TrialOutcome(memory=MemoryStory(driver=story))
    assert str(outcome).endswith("; 50.0 MiB of GPU 0 are still taken")


def test_what_others_take_meanwhile_is_not_the_trials(looks):
    looks((a_gpu((8, 90 * MIB)),))

    [story] = driver_look.given_back((a_gpu(),), 7, {0: 50 * MIB}).values()

    assert (story.left_bytes, story.free_after_bytes) == (0, 934 * MIB)


def test_trial_that_was_killed_proves_nothing_where_the_driver_lists_nobody(looks):
    looks((a_gpu(used_bytes=90 * MIB),))

    [story] = driver_look.given_back((a_gpu(),), 7, None).values()

    assert story.left_bytes is None
    assert set(story.not_measured) == {"taken_bytes", "left_bytes"}


def test_machine_without_a_driver_is_asked_once_and_told_nothing(looks):
    left = looks((a_gpu(),))

    assert driver_look.given_back(NotMeasured("no NVIDIA driver was found"), 7, None) == {}
    assert len(left) == 1


def test_gpu_that_is_lost_meanwhile_has_no_story(looks):
    looks(NotMeasured("the GPU is lost"))

    assert driver_look.given_back((a_gpu(),), 7, {0: 50 * MIB}) == {}


def test_failure_of_the_driver_is_a_reason_and_never_the_trials(monkeypatch):
    monkeypatch.setattr(driver_look, "gpus_now", lambda: 1 / 0)

    assert driver_look.look() == NotMeasured("NVML failed: ZeroDivisionError: division by zero")


@pytest.mark.parametrize(("uses_device", "told"), [(True, str), (False, int)])
def test_process_that_is_not_listed_takes_nothing_only_if_it_uses_no_device(
    looks, uses_device, told
):
    looks((a_gpu((os.getpid() + 1, 50 * MIB)),))

    assert isinstance(driver_look.taken_here(uses_device=uses_device)[0], told)
