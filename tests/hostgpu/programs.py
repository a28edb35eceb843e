"""What programs on a GPU that is only host memory begin with, and how they answer."""

import json
from select import select
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    import subprocess

# What TensorFlow leaves to others on a device of less than 2 GiB.
LEFT_TO_OTHERS = 255 << 20

# How a program learns what the driver says, beside what TensorFlow says.
WITH_NVML = """\
import json
import sys
import pynvml

def driver_used(device=0):
    pynvml.nvmlInit()
    handle = pynvml.nvmlDeviceGetHandleByIndex(device)
    return pynvml.nvmlDeviceGetMemoryInfo(handle).used
"""

WITH_TENSORFLOW = (
    WITH_NVML
    + """\
import tensorflow as tf

MIB = 1 << 20
GPUS = tf.config.list_physical_devices("GPU")

def grow():
    for gpu in GPUS:
        tf.config.experimental.set_memory_growth(gpu, True)

def in_use(device=0):
    return tf.config.experimental.get_memory_info(f"GPU:{device}")["current"]

def take(size, device=0):
    with tf.device(f"GPU:{device}"):
        return tf.zeros(size // 4)

def answer(**words):
    print(json.dumps(words), flush=True)
"""
)

# Asks the driver everything about the device number DEVICE.
ASKS = """\
import json
import pynvml as nvml

def ask(question):
    try:
        return question()
    except (nvml.NVMLError, nvml.NVMLLibraryMismatchError) as error:
        return type(error).__name__

def processes():
    return [[one.pid, one.usedGpuMemory] for one in nvml.nvmlDeviceGetComputeRunningProcesses(gpu)]

def answers():
    memory = nvml.nvmlDeviceGetMemoryInfo
    held_by = ask(processes)
    name_of = held_by[0][0] if isinstance(held_by, list) and held_by else None
    return {
        "count": ask(nvml.nvmlDeviceGetCount),
        "driver": ask(nvml.nvmlSystemGetDriverVersion),
        "name": ask(lambda: nvml.nvmlDeviceGetName(gpu)),
        "uuid": ask(lambda: nvml.nvmlDeviceGetUUID(gpu)),
        "total": ask(lambda: memory(gpu).total),
        "free": ask(lambda: memory(gpu).free),
        "used": ask(lambda: memory(gpu).used),
        "used_v2": ask(lambda: memory(gpu, nvml.nvmlMemory_v2).used),
        "processes": held_by,
        "process_name": name_of and ask(lambda: nvml.nvmlSystemGetProcessName(name_of)),
        "utilization": ask(lambda: nvml.nvmlDeviceGetUtilizationRates(gpu).gpu),
        "mig": ask(lambda: nvml.nvmlDeviceGetMigMode(gpu)),
    }

failed = ask(nvml.nvmlInit)
gpu = None if failed else ask(lambda: nvml.nvmlDeviceGetHandleByIndex(DEVICE))
print(json.dumps({"init": failed} if failed else answers()))
"""


def first_answer(process: "subprocess.Popen[str]") -> Any:
    """The first line of a program that answers with JSON."""
    assert process.stdout is not None
    if not select([process.stdout], [], [], 900)[0]:
        process.kill()
        pytest.fail("the program does not answer")
    return json.loads(process.stdout.readline())
