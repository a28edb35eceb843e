"""Whether the driver has back what a trial took of each GPU: asked before, at its end, and after.

The driver is asked by the caller, because a trial that is killed can tell nothing. NVML makes no
context on a GPU, so to ask takes no memory of it.
"""

import os
import time
from collections.abc import Mapping
from typing import Final

from lowwater.isolation.outcome import DriverStory
from lowwater.model import NotMeasured
from lowwater.model.gpu_holders import Gpus
from lowwater.model.gpus import Gpu
from lowwater.model.interruption import let_through
from lowwater.probes.driver_view import gpus_now

# A process may be gone a moment before the driver has cleaned up behind it.
_LONGEST_S: Final = 5.0
_PAUSE_S: Final = 0.05
_KILLED: Final = "the function's process ended before it could ask"
_NOT_LISTED: Final = "the driver does not list the function's process"


def look() -> Gpus:
    """All GPUs as the driver sees them now; a failure of ours is a reason, too."""
    try:
        return gpus_now()
    except Exception as error:  # noqa: BLE001 - a trial must not fail because of a report
        let_through(error)
        return NotMeasured(f"NVML failed: {type(error).__name__}: {error}")


def taken_here(*, uses_device: bool) -> dict[int, int | str]:
    """What this process takes of each GPU, or the reason why that is not known."""
    gpus, pid = look(), os.getpid()
    seen = () if isinstance(gpus, NotMeasured) else gpus
    found = {gpu.index: gpu.used_by({pid}) for gpu in seen if isinstance(gpu, Gpu)}
    # In a container the list may leave it out: then it is listed on none of them.
    if uses_device and not any(found.values()):
        return {index: _why(one) for index, one in found.items()}
    return {index: one.why if isinstance(one, NotMeasured) else one for index, one in found.items()}


def _why(answer: int | NotMeasured) -> str:
    return answer.why if isinstance(answer, NotMeasured) else _NOT_LISTED


def given_back(
    before: Gpus, pid: int | None, taken: Mapping[int, int | str] | None
) -> dict[str, DriverStory]:
    """What became of each GPU, when the driver counts nothing more for the process."""
    if isinstance(before, NotMeasured):
        return {}
    after = _when_given_back({pid} if pid is not None else set())
    if isinstance(after, NotMeasured):
        return {}
    known = {gpu.index: gpu for gpu in after if isinstance(gpu, Gpu)}
    return {
        f"GPU {gpu.index}": _story(gpu, known[gpu.index], pid, taken)
        for gpu in before
        if isinstance(gpu, Gpu) and gpu.index in known
    }


def _when_given_back(pids: set[int]) -> Gpus:
    deadline = time.monotonic() + _LONGEST_S
    while True:
        gpus = look()
        if not _is_listed(gpus, pids) or time.monotonic() >= deadline:
            return gpus
        time.sleep(_PAUSE_S)


def _is_listed(gpus: Gpus, pids: set[int]) -> bool:
    seen = () if isinstance(gpus, NotMeasured) else gpus
    left = [gpu.used_by(pids) for gpu in seen if isinstance(gpu, Gpu)]
    return any(isinstance(one, int) and one > 0 for one in left)


def _story(
    before: Gpu, after: Gpu, pid: int | None, taken: Mapping[int, int | str] | None
) -> DriverStory:
    here = _KILLED if taken is None else taken.get(after.index, _KILLED)
    left = _left(after, pid, here)
    reasons = {"taken_bytes": here} if isinstance(here, str) else {}
    if isinstance(left, NotMeasured):
        reasons["left_bytes"] = left.why
    return DriverStory(
        here if isinstance(here, int) else None,
        left if isinstance(left, int) else None,
        before.free_bytes,
        after.free_bytes,
        reasons,
    )


def _left(after: Gpu, pid: int | None, taken: int | str) -> int | NotMeasured:
    """Not listed is not zero where the driver did not list it while it lived, or lists nobody."""
    if pid is None:
        return 0
    if taken == _NOT_LISTED or (taken == _KILLED and not after.processes and after.used_bytes):
        return NotMeasured(_NOT_LISTED)
    return after.used_by({pid})
