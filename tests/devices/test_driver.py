"""The driver's answers as the product has them: a number, or the reason why there is none."""

import os

import pytest

pytestmark = pytest.mark.devices

MIB = 1 << 20

ASKS = """
import json, os
from lowwater.model import NotMeasured
from lowwater.probes.nvml import Driver

def plain(answer):
    return f"not measured: {answer.why}" if isinstance(answer, NotMeasured) else answer

def told(gpu):
    if isinstance(gpu, NotMeasured):
        return plain(gpu)
    listed = plain(gpu.processes)
    if not isinstance(listed, str):
        listed = [[one.pid, plain(one.used_bytes)] for one in listed]
    return {
        "index": gpu.index, "total": gpu.total_bytes, "used": gpu.used_bytes,
        "free": gpu.free_bytes, "processes": listed, "utilization": plain(gpu.utilization),
        "mig": gpu.is_mig,
    }

driver = Driver.opened()
answers = []
for _ in range(ROUNDS):
    gpus = driver if isinstance(driver, NotMeasured) else driver.gpus()
    answers.append(plain(gpus) if isinstance(gpus, NotMeasured) else [told(gpu) for gpu in gpus])
print(json.dumps(answers))
"""


@pytest.fixture
def asked(programs):
    def ask(environment, rounds=1):
        return programs.run(f"ROUNDS = {rounds}\n{ASKS}", environment)

    return ask


def test_every_gpu_is_told_with_its_processes(hostgpu, asked):
    machine = hostgpu(512 * MIB, 256 * MIB)
    with machine.neighbour(1, 100 * MIB) as neighbour:
        [[first, second]] = asked(machine.environment())

    assert first == {
        "index": 0, "total": 512 * MIB, "used": 0, "free": 512 * MIB, "processes": [],
        "utilization": 0, "mig": False,
    }  # fmt: skip
    assert (second["index"], second["used"], second["free"]) == (1, 100 * MIB, 156 * MIB)
    assert second["processes"] == [[neighbour.pid, 100 * MIB]]


UNTOLD = {
    "no-permission": "not measured: the driver does not permit it",
    "foreign-pids": "not measured: the driver's process IDs are not those of this container",
    "no-processes": [],
}


@pytest.mark.parametrize("fault", UNTOLD)
def test_processes_that_cannot_be_told_leave_the_sums_as_they_are(hostgpu, asked, fault):
    machine = hostgpu(512 * MIB)
    with machine.neighbour(0, 100 * MIB):
        [[gpu]] = asked(machine.environment(nvml_faults=[fault]))

    assert gpu["processes"] == UNTOLD[fault]
    assert (gpu["used"], gpu["free"]) == (100 * MIB, 412 * MIB)


UNKNOWN_BYTES = {
    "zero-bytes": "not measured: the driver reports 0 bytes for this process",
    "bytes-not-available": (
        "not measured: the driver does not report the bytes of each process here"
    ),
}


@pytest.mark.parametrize("fault", UNKNOWN_BYTES)
def test_bytes_of_a_process_are_never_zero_for_want_of_an_answer(hostgpu, asked, fault):
    machine = hostgpu(512 * MIB)
    with machine.neighbour(0, 100 * MIB) as neighbour:
        [[gpu]] = asked(machine.environment(nvml_faults=[fault]))

    assert gpu["processes"] == [[neighbour.pid, UNKNOWN_BYTES[fault]]]


def test_older_driver_answers_in_its_older_way(hostgpu, asked):
    machine = hostgpu(512 * MIB)
    with machine.neighbour(0, 100 * MIB) as neighbour:
        [[gpu]] = asked(machine.environment(nvml_faults=["old-driver"]))

    assert gpu["processes"] == [[neighbour.pid, 100 * MIB]]
    assert gpu["used"] == 100 * MIB


def test_gpu_that_is_cut_into_instances_says_so(hostgpu, asked):
    [[gpu]] = asked(hostgpu(512 * MIB).environment(nvml_faults=["mig"]))

    assert gpu["mig"] is True
    assert gpu["utilization"] == "not measured: not supported by this GPU or its driver"


@pytest.mark.parametrize(
    ("fault", "why"),
    [
        ("version-mismatch", "the NVIDIA driver and its library have different versions"),
        ("driver-not-loaded", "the NVIDIA driver is not loaded"),
    ],
)
def test_driver_that_does_not_start_says_why(hostgpu, asked, fault, why):
    assert asked(hostgpu(512 * MIB).environment(nvml_faults=[fault])) == [f"not measured: {why}"]


def test_gpu_that_is_lost_on_the_way_is_told_as_lost(hostgpu, asked, tmp_path):
    lost = "not measured: the GPU is lost: the driver no longer reaches it"
    machine = hostgpu(512 * MIB)

    first, *later = asked(machine.environment(nvml_lost_after=12), rounds=5)

    assert first[0]["used"] == 0
    assert later[-1] in (lost, [lost])


def test_machine_without_a_driver_says_so(asked, monkeypatch):
    monkeypatch.delenv("LD_LIBRARY_PATH", raising=False)
    assert asked({**os.environ}) == ["not measured: no NVIDIA driver was found"]
