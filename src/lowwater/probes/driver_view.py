"""What the driver says of each GPU that a framework uses in this process, asked when it is wanted.

NVML is opened and closed each time: kept open, it would keep files open that are not the program's.
"""

import os
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from lowwater.model import NotMeasured
from lowwater.model.devices import Device, gpu_of
from lowwater.model.gpus import Gpu
from lowwater.probes.forked import is_fork
from lowwater.probes.nvml import Driver

_FORKED: Final = "this process was forked after NVML was loaded"
_MIG: Final = "the GPU is divided by MIG, and the driver reports the whole of it"
_NOT_LISTED: Final = "the driver does not list this process"
_SHARED: Final = "several devices are on this GPU, and the driver reports them together"


class DriverView(NamedTuple):
    """What this process takes of a GPU, what is free for anybody, and what all others take."""

    used_bytes: int | NotMeasured
    free_bytes: int | NotMeasured
    others_bytes: int | NotMeasured


def gpus_now() -> tuple[Gpu | NotMeasured, ...] | NotMeasured:
    """All GPUs of the driver, or why it does not tell."""
    if is_fork() and is_nvml_loaded():
        return NotMeasured(_FORKED)
    driver = Driver.opened()
    if isinstance(driver, NotMeasured):
        return driver
    try:
        return driver.gpus()
    finally:
        driver.close()


def is_nvml_loaded() -> bool:
    """Whether anybody has loaded NVML, here or in the process that this one was forked from."""
    return getattr(sys.modules.get("pynvml"), "nvmlLib", None) is not None


def views(
    devices: Sequence[Device], gpus: tuple[Gpu | NotMeasured, ...] | NotMeasured
) -> list[DriverView]:
    """The driver's view of each device."""
    found = [_gpu_of(device, gpus) for device in devices]
    together = Counter(gpu.index for gpu in found if isinstance(gpu, Gpu))
    return [_view(gpu, together) for gpu in found]


def visible_devices(gpus: tuple[Gpu | NotMeasured, ...] | NotMeasured) -> list[Device]:
    """The GPUs that a framework would find if it were started now."""
    if isinstance(gpus, NotMeasured):
        return []
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    count = len(gpus) if visible is None else len([*_before_a_wrong_one(visible.split(","), gpus)])
    order = os.environ.get("CUDA_DEVICE_ORDER")
    return [
        Device(f"GPU:{number}", "the program", number, visible=visible, order=order)
        for number in range(count)
    ]


def _before_a_wrong_one(
    entries: Iterable[str], gpus: tuple[Gpu | NotMeasured, ...]
) -> Iterable[str]:
    """CUDA ignores an entry that names no GPU, and all that follow it."""
    uuids = [gpu.uuid for gpu in gpus if isinstance(gpu, Gpu)]
    for entry in map(str.strip, entries):
        is_number = entry.isdecimal() and int(entry) < len(gpus)
        if not is_number and not (entry and any(uuid.startswith(entry) for uuid in uuids)):
            return
        yield entry


def _gpu_of(device: Device, gpus: tuple[Gpu | NotMeasured, ...] | NotMeasured) -> Gpu | NotMeasured:
    if isinstance(gpus, NotMeasured):
        return gpus
    silent = [gpu for gpu in gpus if isinstance(gpu, NotMeasured)]
    found = gpu_of(device, [gpu for gpu in gpus if isinstance(gpu, Gpu)])
    # Which of them is missing, their numbers say; that one is missing, its own answer says.
    return silent[0] if silent and isinstance(found, NotMeasured) else found


def _view(gpu: Gpu | NotMeasured, together: Counter[int]) -> DriverView:
    if isinstance(gpu, NotMeasured):
        return DriverView(gpu, gpu, gpu)
    if gpu.is_mig:
        return DriverView(*[NotMeasured(_MIG)] * 3)
    used = NotMeasured(_SHARED) if together[gpu.index] > 1 else _used(gpu)
    others = used if isinstance(used, NotMeasured) else max(0, gpu.used_bytes - used)
    return DriverView(used, gpu.free_bytes, others)


def _used(gpu: Gpu) -> int | NotMeasured:
    own = os.getpid()
    if isinstance(gpu.processes, NotMeasured):
        return gpu.processes
    # In a container the list may leave out whom it likes: not listed is not zero.
    if own not in {process.pid for process in gpu.processes}:
        return NotMeasured(_NOT_LISTED)
    return gpu.used_by({own})
