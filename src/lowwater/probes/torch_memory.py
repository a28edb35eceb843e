"""What torch says of its memory on each GPU; CUDA is never started by us."""

import os
import sys
from collections.abc import Callable
from typing import Any, Final

from lowwater.model import NotMeasured
from lowwater.model.devices import Device, DeviceMemory
from lowwater.model.interruption import let_through

FORKED: Final = "this process was forked after torch started CUDA"
_UNUSED: Final = "torch has not used a GPU yet"
_UNKNOWN: Final = "this release of torch does not report it"


def torch_memory() -> tuple[DeviceMemory, ...] | NotMeasured | None:
    """Every GPU that torch may use; None where the program has not imported it."""
    cuda = getattr(sys.modules.get("torch"), "cuda", None)
    if cuda is None:
        return None
    try:
        if getattr(cuda, "_is_in_bad_fork", bool)():
            return NotMeasured(FORKED)
        # Each of the calls below would start CUDA otherwise.
        if not cuda.is_initialized():
            return NotMeasured(_UNUSED)
        return tuple(_memory(cuda, number) for number in range(cuda.device_count()))
    except Exception as error:  # noqa: BLE001 - a driver that fails raises anything
        let_through(error)
        return NotMeasured(f"torch failed: {type(error).__name__}")


def _memory(cuda: Any, number: int) -> DeviceMemory:  # noqa: ANN401 - the module `torch.cuda`
    visible, order = (
        os.environ.get(name) for name in ("CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER")
    )
    return DeviceMemory(
        Device(f"GPU:{number}", "torch", number, visible=visible, order=order),
        _asked(lambda: cuda.memory_allocated(number)),
        _asked(lambda: cuda.memory_reserved(number)),
        _asked(lambda: cuda.max_memory_allocated(number)),
        _asked(lambda: _limit(cuda, number)),
    )


def _limit(cuda: Any, number: int) -> int:  # noqa: ANN401
    """The share that the program has set, of all memory of the GPU; all of it unless it did."""
    whole: int = cuda.get_device_properties(number).total_memory
    return int(whole * cuda.get_per_process_memory_fraction(number))


def _asked(question: Callable[[], int]) -> int | NotMeasured:
    try:
        return int(question())
    except Exception as error:  # noqa: BLE001
        let_through(error)
        return NotMeasured(_UNKNOWN)
