"""`lowwater.memory()` on a GPU that is only host memory: every number is true, or has a reason."""

import pytest

from hostgpu.programs import WITH_TENSORFLOW

pytestmark = pytest.mark.devices

MIB = 1 << 20
CONTEXT = 40 * MIB
KEYS = {
    "in_use_bytes", "pool_bytes", "peak_bytes", "limit_bytes", "driver_bytes", "driver_free_bytes",
    "not_measured",
}  # fmt: skip
BEGIN = f"""{WITH_TENSORFLOW}
import lowwater
def mine():
    handle = pynvml.nvmlDeviceGetHandleByIndex(0)
    [one] = pynvml.nvmlDeviceGetComputeRunningProcesses(handle)
    return one.usedGpuMemory
def info():
    return tf.config.experimental.get_memory_info("GPU:0")
"""
FILLS = """
kept = take(8 * MIB)
more = take(64 * MIB)
full = lowwater.memory()["GPU:0"]
true_full = info()
del more
after = lowwater.memory()["GPU:0"]
true_after = info()
pynvml.nvmlInit()
answer(full=full, after=after, true_full=true_full, true_after=true_after, mine=mine())
"""


def check(place, true, mine, context=CONTEXT):
    """Every number of a device is what TensorFlow and the driver say; else it is None."""
    assert place.keys() == KEYS
    assert place["in_use_bytes"] == true["current"]
    assert place["peak_bytes"] == true["peak"]
    assert place["driver_bytes"] == mine
    assert place["pool_bytes"] in (None, mine - context)
    assert {key for key in KEYS if place[key] is None} == {*place["not_measured"]}


@pytest.mark.parametrize("begin", ["", "grow()"], ids=["greedy", "grows"])
@pytest.mark.parametrize("fail_at", [0, 1], ids=["granted", "refused"])
def test_no_number_is_wrong(hostgpu, programs, begin, fail_at):
    machine = hostgpu(1024 * MIB, context_bytes=CONTEXT)
    settings = {"fail_at": fail_at} if fail_at else {}

    told = programs.run(f"{BEGIN}\n{begin}\n{FILLS}", machine.environment(**settings))

    check(told["full"], told["true_full"], told["mine"])
    check(told["after"], told["true_after"], told["mine"])
    assert told["full"]["in_use_bytes"] - told["after"]["in_use_bytes"] == 64 * MIB
    assert told["after"]["peak_bytes"] >= 72 * MIB
    assert told["after"]["driver_free_bytes"] == 1024 * MIB - told["mine"]
    assert told["after"]["limit_bytes"] < 1024 * MIB
    reason = told["after"]["not_measured"]["pool_bytes"]
    assert ("that grows" in reason) == bool(begin)


@pytest.mark.parametrize("fail_at", [0, 1], ids=["granted", "refused"])
def test_pool_of_a_large_device_is_its_limit_if_the_driver_confirms_it(hostgpu, programs, fail_at):
    machine = hostgpu(16384 * MIB, context_bytes=CONTEXT)
    settings = {"fail_at": fail_at} if fail_at else {}

    told = programs.run(f"{BEGIN}\n{FILLS}", machine.environment(**settings))

    check(told["after"], told["true_after"], told["mine"])
    whole = told["after"]["limit_bytes"] // 256 * 256
    assert told["after"]["pool_bytes"] == (None if fail_at else whole)


UNSTARTED = """
import json, sys
import lowwater
first = lowwater.memory()
loaded = "tensorflow" in sys.modules
import tensorflow as tf
from tensorflow.python.eager import context
second = lowwater.memory()
print(json.dumps([first, loaded, second, bool(context.context()._initialized)]))
"""


def test_it_answers_before_tensorflow_and_starts_nothing(hostgpu, programs):
    machine = hostgpu(512 * MIB, 256 * MIB)
    with machine.neighbour(1, 100 * MIB):
        first, is_loaded, second, is_started = programs.run(UNSTARTED, machine.environment())

    assert [is_loaded, is_started] == [False, False]
    assert [*first] == [*second] == ["host", "GPU:0", "GPU:1"]
    assert first["GPU:0"]["driver_free_bytes"] == 512 * MIB
    assert first["GPU:1"]["driver_free_bytes"] == 156 * MIB
    assert first["GPU:1"]["driver_bytes"] is None
    assert first["GPU:0"]["not_measured"]["in_use_bytes"] == (
        "no framework has used this device in this process"
    )
    assert second["GPU:0"]["not_measured"]["in_use_bytes"] == (
        "TensorFlow has not run an operation yet"
    )
    assert first["host"].keys() == first["GPU:0"].keys() == KEYS


FAULTS = {
    "no-processes": "the driver does not list this process",
    "zero-bytes": "the driver reports 0 bytes for this process",
    "foreign-pids": "the driver's process IDs are not those of this container",
    "mig": "the GPU is divided by MIG, and the driver reports the whole of it",
    "driver-not-loaded": "the NVIDIA driver is not loaded",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_driver_that_does_not_say_leaves_a_reason(hostgpu, programs, fault):
    text = f"{WITH_TENSORFLOW}\nimport lowwater\nkept = take(8 * MIB)\nanswer(**lowwater.memory())"
    told = programs.run(text, hostgpu(512 * MIB).environment(nvml_faults=[fault]))

    assert told["GPU:0"]["driver_bytes"] is None
    assert told["GPU:0"]["not_measured"]["driver_bytes"] == FAULTS[fault]
    assert told["GPU:0"]["in_use_bytes"] >= 8 * MIB
    assert told["GPU:0"]["pool_bytes"] is None


NO_GPUS = {
    "driver-not-loaded": "the NVIDIA driver is not loaded",
    "version-mismatch": "the NVIDIA driver and its library have different versions",
}
ASKS_AT_ONCE = "import json, lowwater\nprint(json.dumps(lowwater.memory()))"


@pytest.mark.parametrize("fault", NO_GPUS)
def test_driver_that_does_not_start_leaves_no_gpu_and_the_reason(hostgpu, programs, fault):
    told = programs.run(ASKS_AT_ONCE, hostgpu(512 * MIB).environment(nvml_faults=[fault]))

    assert [*told] == ["host"]
    assert told["host"]["not_measured"]["devices"] == NO_GPUS[fault]


def test_gpu_that_is_lost_leaves_no_gpu_and_the_reason(hostgpu, programs):
    told = programs.run(ASKS_AT_ONCE, hostgpu(512 * MIB).environment(nvml_lost_after=0))

    assert told["host"]["not_measured"]["devices"] == (
        "the GPU is lost: the driver no longer reaches it"
    )


FORKS = f"""{WITH_TENSORFLOW}
import os, threading, time
import lowwater
kept = take(8 * MIB)
lowwater.memory()
is_over = threading.Event()
def work():
    while not is_over.is_set():
        take(MIB)
threads = [threading.Thread(target=work) for _ in range(2)]
[thread.start() for thread in threads]
answers = []
for _ in range(5):
    time.sleep(0.05)
    reads, writes = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writes, json.dumps(lowwater.memory()).encode())
        os._exit(0)
    os.close(writes)
    with open(reads) as pipe:
        answers.append(json.loads(pipe.read()))
    os.waitpid(child, 0)
in_parent = lowwater.memory()
is_over.set()
[thread.join() for thread in threads]
answer(answers=answers, in_parent=in_parent)
"""


def test_forked_child_is_given_the_reason_and_never_waits(hostgpu, programs):
    told = programs.run(FORKS, hostgpu(512 * MIB).environment())

    for answer in told["answers"]:
        assert answer["host"]["driver_bytes"] > 0
        assert answer["host"]["not_measured"] == {
            "in_use_bytes": "this process was forked after TensorFlow started",
            "devices": "this process was forked after NVML was loaded",
        }
        assert [*answer] == ["host"]
    assert told["in_parent"]["GPU:0"]["in_use_bytes"] >= 8 * MIB
