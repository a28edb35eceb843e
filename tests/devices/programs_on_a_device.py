"""What the programs of these tests begin with."""

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
