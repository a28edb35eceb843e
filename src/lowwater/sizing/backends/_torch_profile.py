"""The peaks of steps on torch's CPU allocator, which tells of each block as it comes and goes."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

_STEP = "lowwater: one step"
_MEMORY = "[memory]"


@dataclass(frozen=True, slots=True)
class Event:
    """A block that was handed out, or given back where it is negative; None begins a step."""

    time_ns: int
    size_bytes: int | None


def peaks_of(events: Iterable[Event], base_bytes: int) -> tuple[int, ...]:
    """The highest level in each step; `base_bytes` were there before."""
    level, peaks = base_bytes, list[int]()
    for event in sorted(events, key=_order):
        if event.size_bytes is None:
            peaks.append(level)
            continue
        level += event.size_bytes
        if peaks:
            peaks[-1] = max(peaks[-1], level)
    return tuple(peaks)


def _order(event: Event) -> tuple[int, bool]:
    return event.time_ns, event.size_bytes is not None


def profiled(step: Callable[[], Any], count: int) -> list[Event]:
    """Make the steps under torch's profiler, on the CPU."""
    from torch.profiler import ProfilerActivity, profile, record_function

    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler:
        for _ in range(count):
            with record_function(_STEP):
                step()
    found = profiler.profiler.kineto_results.events()
    return [
        Event(one.start_ns(), None if one.name() == _STEP else int(one.nbytes()))
        for one in found
        if one.name() in (_STEP, _MEMORY)
    ]
