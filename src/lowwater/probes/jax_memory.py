"""What JAX says of its memory on each accelerator; no backend is started by us."""

import os
import sys
from collections.abc import Iterator, Mapping
from typing import Any, Final

from lowwater.model import NotMeasured
from lowwater.model.devices import Device, DeviceMemory
from lowwater.model.interruption import let_through
from lowwater.probes.forked import runs_here

_BACKENDS = "jax._src.xla_bridge"
FORKED: Final = "this process was forked after JAX started"
_UNUSED: Final = "JAX has not run an operation yet"
_HOST = "cpu"
_GPUS = frozenset({"gpu", "cuda", "rocm"})


def jax_memory() -> tuple[DeviceMemory, ...] | NotMeasured | None:
    """Every accelerator of the backends that run; None where the program has not imported it."""
    module = sys.modules.get(_BACKENDS)
    if module is None:
        return None
    try:
        # `jax.devices()` would start them.
        backends = dict(module._backends)  # noqa: SLF001
        if not backends:
            return NotMeasured(_UNUSED)
        return tuple(_all(backends)) if runs_here() else NotMeasured(FORKED)
    except Exception as error:  # noqa: BLE001 - what is private may change with every release
        let_through(error)
        return NotMeasured("this release of JAX does not say which devices it uses")


def place_of(device: Any) -> str:  # noqa: ANN401 - a device of JAX
    """`GPU:0`, `TPU:3`; `host` for the CPU, whose memory is that of the program."""
    if device.platform == _HOST:
        return "host"
    kind = "GPU" if device.platform in _GPUS else str(device.platform).upper()
    return f"{kind}:{_number(device)}"


def _all(backends: Mapping[str, Any]) -> Iterator[DeviceMemory]:
    devices = {
        id(device): device for client in backends.values() for device in client.local_devices()
    }
    for device in devices.values():
        if device.platform != _HOST:
            yield memory_of(device)


def memory_of(device: Any) -> DeviceMemory:  # noqa: ANN401
    """One device: what its allocator counts, or why it does not."""
    place = place_of(device)
    known = Device(
        place,
        "JAX",
        _number(device) if place.startswith("GPU") else None,
        visible=os.environ.get("CUDA_VISIBLE_DEVICES"),
        order=os.environ.get("CUDA_DEVICE_ORDER"),
    )
    try:
        # None on a CPU, and where the allocator of the platform is used without a pool.
        statistics = device.memory_stats() or {}
    except Exception as error:  # noqa: BLE001 - not every backend has them
        let_through(error)
        statistics = {}
    names = ("bytes_in_use", "pool_bytes", "peak_bytes_in_use", "bytes_limit")
    return DeviceMemory(known, *(_number_of(statistics, name) for name in names))


def _number(device: Any) -> int:  # noqa: ANN401
    number = getattr(device, "local_hardware_id", None)
    return int(device.id if number is None else number)


def _number_of(statistics: Mapping[str, Any], name: str) -> int | NotMeasured:
    if not statistics:
        return NotMeasured("JAX reports no memory statistics for this device")
    found = statistics.get(name)
    return NotMeasured(f"JAX does not report {name}") if found is None else int(found)
