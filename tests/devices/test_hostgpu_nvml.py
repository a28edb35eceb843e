"""The NVML of the GPU that is only host memory answers from the same book, or fails on demand."""

import ctypes
import os

import pytest

from hostgpu.programs import WITH_NVML

pytestmark = pytest.mark.devices

MIB = 1 << 20
NO_SUCH_PROCESS_FROM = 5_000_000


def test_driver_says_what_it_is_and_who_holds_what(hostgpu, driver):
    machine = hostgpu(512 * MIB, 256 * MIB)
    with machine.neighbour(0, 100 * MIB) as neighbour:
        first, second = driver(machine, device=0), driver(machine, device=1)

    assert (first["count"], first["name"]) == (2, "host memory that plays a GPU")
    assert first["driver"] == "0.0 (host memory that plays a GPU)"
    assert first["uuid"] != second["uuid"]
    assert (first["total"], first["used"], first["free"]) == (512 * MIB, 100 * MIB, 412 * MIB)
    assert first["used_v2"] == 100 * MIB
    assert first["processes"] == [[neighbour.pid, 100 * MIB]]
    assert first["process_name"] == str(machine.built.hold)
    assert first["utilization"] == 0
    assert first["mig"] == "NVMLError_NotSupported"
    assert (second["total"], second["used"], second["processes"]) == (256 * MIB, 0, [])


def test_every_version_of_the_list_of_processes_is_the_same(hostgpu, programs):
    machine = hostgpu(512 * MIB)
    text = f"""{WITH_NVML}
used = driver_used()
handle = pynvml.nvmlDeviceGetHandleByIndex(0)
class First(pynvml.Structure):
    _fields_ = [("pid", pynvml.c_uint), ("bytes", pynvml.c_ulonglong)]
first, count = (First * 8)(), pynvml.c_uint(8)
pynvml.nvmlLib.nvmlDeviceGetComputeRunningProcesses(handle, pynvml.byref(count), first)
second = pynvml.nvmlDeviceGetComputeRunningProcesses_v2(handle)
third = pynvml.nvmlDeviceGetComputeRunningProcesses_v3(handle)
print(json.dumps([
    [[one.pid, one.bytes] for one in first[: count.value]],
    [[one.pid, one.usedGpuMemory] for one in second],
    [[one.pid, one.usedGpuMemory] for one in third],
]))
"""
    with machine.neighbour(0, 10 * MIB) as one, machine.neighbour(0, 20 * MIB) as other:
        versions = programs.run(text, machine.environment())

    assert versions == [[[one.pid, 10 * MIB], [other.pid, 20 * MIB]]] * 3


FAULTS = {
    "no-permission": {"processes": "NVMLError_NoPermission"},
    "no-processes": {"processes": []},
    "old-driver": {
        "processes": "NVMLLibraryMismatchError",
        "used_v2": "NVMLError_FunctionNotFound",
    },
    "mig": {"mig": [1, 1], "utilization": "NVMLError_NotSupported"},
}


@pytest.mark.parametrize("fault", FAULTS)
def test_fault_changes_its_answers_and_no_others(hostgpu, driver, fault):
    machine = hostgpu(512 * MIB)
    with machine.neighbour(0, 100 * MIB):
        whole, faulty = driver(machine), driver(machine, nvml_faults=[fault])

    # The name is asked of the process that the list begins with.
    expected = {**whole, **FAULTS[fault]}
    assert {**faulty, "process_name": None} == {**expected, "process_name": None}


@pytest.mark.parametrize(("fault", "size"), [("zero-bytes", 0), ("bytes-not-available", None)])
def test_bytes_of_each_process_can_be_unknown_while_the_sum_is_known(hostgpu, driver, fault, size):
    machine = hostgpu(512 * MIB)
    with machine.neighbour(0, 100 * MIB) as neighbour:
        answer = driver(machine, nvml_faults=[fault])

    assert answer["processes"] == [[neighbour.pid, size]]
    assert answer["used"] == 100 * MIB


def test_processes_of_another_namespace_have_numbers_that_mean_nothing_here(hostgpu, driver):
    machine = hostgpu(512 * MIB)
    with machine.neighbour(0, 100 * MIB):
        answer = driver(machine, nvml_faults=["foreign-pids"])

    [[pid, size]] = answer["processes"]
    assert pid > NO_SUCH_PROCESS_FROM
    assert not os.path.exists(f"/proc/{pid}")
    assert size == 100 * MIB
    assert answer["process_name"] == "NVMLError_NotFound"


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ("version-mismatch", "NVMLError_LibRmVersionMismatch"),
        ("driver-not-loaded", "NVMLError_DriverNotLoaded"),
    ],
)
def test_driver_that_does_not_start_says_why(hostgpu, driver, fault, error):
    assert driver(hostgpu(512 * MIB), nvml_faults=[fault]) == {"init": error}


def test_driver_can_be_lost_after_some_answers(hostgpu, programs):
    text = f"{WITH_NVML}\npynvml.nvmlInit()\nanswers = []\n"
    text += "for _ in range(4):\n    try:\n        answers.append(pynvml.nvmlDeviceGetCount())\n"
    text += "    except pynvml.NVMLError_GpuIsLost:\n        answers.append('lost')\n"
    text += "print(json.dumps(answers))"

    environment = hostgpu(512 * MIB).environment(nvml_lost_after=2)

    assert programs.run(text, environment) == [1, 1, "lost", "lost"]


def test_driver_is_lost_while_a_file_exists(hostgpu, driver, tmp_path):
    machine, sign = hostgpu(512 * MIB), tmp_path / "lost"
    before = driver(machine, nvml_lost_if=sign)
    sign.touch()
    during = driver(machine, nvml_lost_if=sign)
    sign.unlink()

    assert before["used"] == 0
    assert during["used"] == "NVMLError_GpuIsLost"
    assert driver(machine, nvml_lost_if=sign) == before


def test_call_before_init_is_an_error(hostgpu, programs):
    text = """
import ctypes
library = ctypes.CDLL("libnvidia-ml.so.1")
count = ctypes.c_uint()
print([library.nvmlDeviceGetCount_v2(ctypes.byref(count)), library.nvmlShutdown()])
"""
    assert programs.run(text, hostgpu(512 * MIB).environment()) == [1, 1]


def test_without_a_book_there_is_no_driver(hostgpu_built, monkeypatch):
    monkeypatch.delenv("HOSTGPU_BOOK", raising=False)

    library = ctypes.CDLL(str(hostgpu_built.nvml))

    assert library.nvmlInit_v2() == 9
