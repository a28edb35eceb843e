"""What TensorFlow says of its memory on each accelerator; it is never started by us."""

import sys
from typing import Any, Final

from lowwater.model import NotMeasured
from lowwater.model.devices import Device, DeviceMemory
from lowwater.model.interruption import let_through
from lowwater.probes.forked import runs_here
from lowwater.probes.tensorflow_devices import tensorflow_devices

_CONTEXT = "tensorflow.python.eager.context"
_GRAPH_MODE = 0
FORKED: Final = "this process was forked after TensorFlow started"
_UNUSED: Final = "TensorFlow has not run an operation yet"
_GRAPHS: Final = "TensorFlow does not report device memory in graph mode"
_GROWS: Final = "TensorFlow does not report the size of a pool that grows; it is at least the peak"
_EMPTY: Final = "TensorFlow has allocated nothing on this device yet"
_UNCONFIRMED: Final = (
    "TensorFlow does not report the size of its pool, and the driver does not confirm that it is "
    "the limit"
)
# A pool that is refused its limit asks for a tenth less. What a process has on a GPU besides, the
# context of CUDA above all, is less than this.
_LARGEST_CONTEXT: Final = 1 << 30
_LEAST_STEP: Final = 0.1
# The pool takes whole pieces of this size.
_ROUNDED_TO: Final = 256


def is_forked() -> bool:
    """Whether TensorFlow was started in the process that this one was forked from."""
    context = getattr(sys.modules.get(_CONTEXT), "_context", None)
    return bool(getattr(context, "_initialized", False)) and not runs_here()


def tensorflow_memory() -> tuple[DeviceMemory, ...] | NotMeasured | None:
    """Every accelerator that it has set up; None where the program has not imported it."""
    module = sys.modules.get(_CONTEXT)
    if module is None:
        return None
    context = getattr(module, "_context", None)
    if not getattr(context, "_initialized", False):
        mode = getattr(module, "default_execution_mode", None)
        return NotMeasured(_GRAPHS if mode == _GRAPH_MODE else _UNUSED)
    if not runs_here():
        return NotMeasured(FORKED)
    return tuple(_memory(context, device) for device in tensorflow_devices())


def pool_bytes(told: DeviceMemory, driver_bytes: int | NotMeasured) -> int | NotMeasured:
    """The size of the pool, where it is certain.

    A pool that does not grow takes all of its limit at once. If the driver refuses that, it takes
    less, and TensorFlow does not say so. Only a process that has its limit, though its context
    would not make up for a tenth of it, certainly has the pool that it asked for.
    """
    limit = told.limit_bytes
    if told.device.grows is not False or told.peak_bytes == 0 or isinstance(limit, NotMeasured):
        return told.pool_bytes
    is_large = limit * _LEAST_STEP > _LARGEST_CONTEXT
    whole = limit // _ROUNDED_TO * _ROUNDED_TO
    is_there = not isinstance(driver_bytes, NotMeasured) and driver_bytes >= whole
    return whole if is_large and is_there else told.pool_bytes


def _memory(context: Any, device: Device) -> DeviceMemory:  # noqa: ANN401 - TensorFlow's
    limit = device.limit_bytes
    told_limit = NotMeasured("TensorFlow does not report its limit") if limit is None else limit
    try:
        info = context.get_memory_info(device.place)
        in_use, peak = int(info["current"]), int(info["peak"])
    except Exception as error:  # noqa: BLE001 - a device without statistics raises anything
        let_through(error)
        why = NotMeasured(f"TensorFlow reports no memory statistics for {device.place}")
        return DeviceMemory(device, why, why, why, told_limit)
    if not peak:
        return DeviceMemory(device, in_use, NotMeasured(_EMPTY), peak, told_limit)
    pool = NotMeasured(_UNCONFIRMED if device.grows is False else _GROWS)
    return DeviceMemory(device, in_use, pool, peak, told_limit)
