"""The accelerators that TensorFlow has set up, as they are in force; it is never set up by us."""

import os
import sys
from collections.abc import Iterator
from typing import Any

from lowwater.model.devices import Device
from lowwater.model.interruption import let_through

_CONTEXT = "tensorflow.python.eager.context"
_BINDINGS = "tensorflow.python.client.pywrap_tf_session"
_EAGER_BINDINGS = "tensorflow.python.pywrap_tfe"
# What a user sets for all devices; stands above what the program sets for each of them.
_FORCED_GROWTH = "TF_FORCE_GPU_ALLOW_GROWTH"


def tensorflow_devices() -> tuple[Device, ...]:
    """All but the CPU; none before the first operation, for until then all may change."""
    context = getattr(sys.modules.get(_CONTEXT), "_context", None)
    if context is None or not getattr(context, "_initialized", False):
        return ()
    try:
        return tuple(_devices(context))
    except Exception as error:  # noqa: BLE001 - what is private may change with every release
        let_through(error)
        return ()


def _devices(context: Any) -> Iterator[Device]:  # noqa: ANN401 - TensorFlow's
    limits = _limits(context)
    physical = _physical(context)
    for device in context._logical_devices or ():  # noqa: SLF001 - nothing public tells it
        place = device.name.removeprefix("/device:")
        if place.startswith("CPU"):
            continue
        of_kind = physical.get(device.device_type, [])
        number = int(place.rpartition(":")[2])
        behind = of_kind[number] if number < len(of_kind) else None
        yield Device(
            place,
            "TensorFlow",
            None if behind is None else int(behind.name.rpartition(":")[2]),
            limits.get(place),
            None if behind is None else _grows(context, behind),
            bool(context._virtual_device_map.get(behind)),  # noqa: SLF001
            os.environ.get("CUDA_VISIBLE_DEVICES"),
            os.environ.get("CUDA_DEVICE_ORDER"),
        )


def _physical(context: Any) -> dict[str, list[Any]]:  # noqa: ANN401
    """By kind, the device behind each logical one: several where one was divided."""
    found: dict[str, list[Any]] = {}
    for device in context._visible_device_list:  # noqa: SLF001
        parts = context._virtual_device_map.get(device) or (None,)  # noqa: SLF001
        found.setdefault(device.device_type, []).extend([device] * len(parts))
    return found


def _grows(context: Any, device: Any) -> bool:  # noqa: ANN401
    forced = os.environ.get(_FORCED_GROWTH, "").lower()
    if forced in ("true", "false"):
        return forced == "true"
    return bool(context._memory_growth_map.get(device))  # noqa: SLF001


def _limits(context: Any) -> dict[str, int]:  # noqa: ANN401
    """The most that each pool may take."""
    bindings, eager = sys.modules[_BINDINGS], sys.modules[_EAGER_BINDINGS]
    listed = eager.TFE_ContextListDevices(context._handle)  # noqa: SLF001
    try:
        found = {}
        for index in range(eager.TF_DeviceListCount(listed)):
            name = eager.TF_DeviceListName(listed, index).rpartition("/device:")[2]
            found[name] = bindings.TF_DeviceListMemoryBytes(listed, index)
        return found
    finally:
        eager.TF_DeleteDeviceList(listed)
