"""What a framework says of an accelerator that it uses, and which GPU of the driver that is."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from lowwater.model.measured import NotMeasured

_DIFFERENT = "GPUs of several kinds: set CUDA_DEVICE_ORDER=PCI_BUS_ID to tell which one is used"
# Refused, TensorFlow asks for a tenth less, again and again.
_LESS_EACH_TIME = 0.9


class _Numbered(Protocol):
    """A GPU as the driver tells it apart from the others."""

    @property
    def index(self) -> int:
        """Its number in the order of `nvidia-smi`."""

    @property
    def name(self) -> str:
        """Its kind."""

    @property
    def uuid(self) -> str:
        """Its name in the world."""


_Gpu = TypeVar("_Gpu", bound=_Numbered)


@dataclass(frozen=True, slots=True)
class Device:
    """One device of a framework, such as TensorFlow's `GPU:0`, as it is in force.

    `physical` is its number among the GPUs that the process may see. `limit_bytes` is the most
    that the framework's pool may take. With `grows` the pool takes memory as it needs it; without,
    it takes all of the limit at its first use.
    """

    place: str
    framework: str
    physical: int | None = None
    limit_bytes: int | None = None
    grows: bool | None = None
    # Whether the program has chosen the limit.
    is_limited: bool = False
    # `CUDA_VISIBLE_DEVICES` and `CUDA_DEVICE_ORDER` as they were when the framework looked.
    visible: str | None = None
    order: str | None = None


@dataclass(frozen=True, slots=True)
class DeviceMemory:
    """What a framework says of its memory on one of its devices.

    `pool_bytes` is what its allocator has taken from the driver, in use or not.
    """

    device: Device
    in_use_bytes: int | NotMeasured
    pool_bytes: int | NotMeasured
    peak_bytes: int | NotMeasured
    limit_bytes: int | NotMeasured


def granted_bytes(limit: int, driver_bytes: int | None) -> int:
    """What a pool that does not grow has of its limit, as far as the driver's count shows."""
    granted = limit
    while driver_bytes is not None and granted > driver_bytes:
        granted = int(granted * _LESS_EACH_TIME)
    return granted


def gpu_of(device: Device, gpus: Sequence[_Gpu]) -> _Gpu | NotMeasured:
    """The driver's view of a framework's device.

    CUDA numbers the GPUs that it may see; the driver numbers all of them. Where they differ in
    kind, CUDA puts the fastest first unless it is told otherwise.
    """
    if device.physical is None:
        return NotMeasured(f"{device.framework} does not report which GPU {device.place} is")
    if device.visible is None:
        wanted = str(device.physical)
    else:
        entries = [entry.strip() for entry in device.visible.split(",")]
        wanted = entries[device.physical] if device.physical < len(entries) else ""
    if not wanted.isdecimal():
        named = [gpu for gpu in gpus if wanted and gpu.uuid.startswith(wanted)]
        return named[0] if len(named) == 1 else _unmatched(device)
    if device.order != "PCI_BUS_ID" and len({gpu.name for gpu in gpus}) > 1:
        return NotMeasured(_DIFFERENT)
    numbered = [gpu for gpu in gpus if gpu.index == int(wanted)]
    return numbered[0] if numbered else _unmatched(device)


def _unmatched(device: Device) -> NotMeasured:
    if device.visible is None:
        return NotMeasured(f"the driver lists no GPU number {device.physical}")
    return NotMeasured(f"CUDA_VISIBLE_DEVICES={device.visible} matches no GPU of the driver")
