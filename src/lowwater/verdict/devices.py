"""Puts the driver's view of each device beside the program's own: what its pool has, and the rest.

The driver counts what a process has taken. A part of that is the pool of the framework, which has
what is in use inside; the rest are the driver's own books for the process, and libraries.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from lowwater.model import Moment, NotMeasured, Sample, Timeline
from lowwater.model.devices import Device, gpu_of, granted_bytes
from lowwater.model.gauges import (
    DRIVER_OTHERS,
    DRIVER_OURS,
    DRIVER_TOTAL,
    IN_USE,
    PEAK,
    POOL,
    device_gauge,
)
from lowwater.model.gpus import GpuLook, WatchedGpu

_DRIVER: Final = "driver"
_MIG: Final = "the GPU is divided into MIG instances, and the driver counts all of them"
_DIVIDED: Final = "the program has divided the GPU into several devices"
_UNTOLD: Final = (
    "the driver counts memory of this program there, but only TensorFlow in eager mode tells how "
    "much of it is in use"
)
_LESS: Final = "the driver counts less for this program than the program has in use"
_HIDDEN: Final = "the driver does not list this program; in a container it may hide it"
_UNSEEN: Final = "the program ended before the driver was asked what it takes"


class _View(NamedTuple):
    """One device, and how the driver sees it where it does."""

    device: Device
    gpu: WatchedGpu | None
    # Whether the driver no longer answered for it at the end.
    is_lost: bool = False


def with_devices(timeline: Timeline) -> Timeline:
    """The same timeline; its gauges say what the driver and the pool of each device hold."""
    untold = tuple(_only_at_the_driver(timeline))
    timeline = replace(timeline, devices=(*timeline.devices, *untold))
    if not timeline.devices:
        # Nobody asks why the driver of a GPU that is not used says nothing.
        unmeasured = {
            name: why
            for name, why in timeline.unmeasured.items()
            if name != _DRIVER and not name.startswith("GPU ")
        }
        return replace(timeline, unmeasured=unmeasured)
    unmeasured = dict(timeline.unmeasured) | {f"{one.place} in use": _UNTOLD for one in untold}
    seen: list[Sample | Moment] = [*timeline.samples, *timeline.moments]
    views = [_viewed(device, timeline, unmeasured) for device in timeline.devices]
    books = [*_believed([_Book(view, seen) for view in views], seen, unmeasured)]
    samples, moments = [*timeline.samples], [*timeline.moments]
    for book in books:
        samples = [replace(one, gauges={**one.gauges, **book.gauges(one)}) for one in samples]
        moments = [replace(one, gauges={**one.gauges, **book.gauges(one)}) for one in moments]
    return replace(timeline, samples=tuple(samples), moments=tuple(moments), unmeasured=unmeasured)


def _believed(
    books: Sequence["_Book"], seen: Sequence[Sample | Moment], unmeasured: dict[str, str]
) -> Iterator["_Book"]:
    """Without the driver's counts that the program contradicts, and with the reason for each."""
    untold = {book for book in books if not _is_told(book.view, unmeasured)}
    # One that hides the program on a GPU hides it on all: there, 0 is no count either.
    is_hidden = any(book.objection == _HIDDEN for book in untold)
    for book in books:
        objection = _HIDDEN if is_hidden else book.objection
        if objection is not None and book in untold:
            unmeasured[f"{book.view.device.place} at the driver"] = objection
        is_useless = is_hidden or (objection is not None and not book.is_ever_right)
        yield _Book(book.view._replace(gpu=None), seen) if is_useless else book


def _is_told(view: _View, unmeasured: Mapping[str, str]) -> bool:
    """Whether the driver itself has said why it does not count this program."""
    by_process = view.gpu is not None and f"GPU {view.gpu.index} by process" in unmeasured
    return view.is_lost or by_process


def _only_at_the_driver(timeline: Timeline) -> Iterator[Device]:
    """GPUs that the program takes, or a child of it, though no framework tells what is in use."""
    told = [gpu_of(device, timeline.gpus) for device in timeline.devices]
    places = {device.place for device in timeline.devices}
    for gpu in timeline.gpus:
        is_taken = any(look.ours_bytes for look in gpu.looks)
        device = Device(f"GPU:{gpu.index}", "the program", gpu.index)
        if is_taken and gpu not in told and device.place not in places:
            yield device


def _viewed(device: Device, timeline: Timeline, unmeasured: dict[str, str]) -> _View:
    if not timeline.gpus:
        return _View(device, None)
    found = gpu_of(device, timeline.gpus)
    shared = Counter(one.physical for one in timeline.devices)
    if not isinstance(found, NotMeasured) and found.is_mig:
        found = NotMeasured(_MIG)
    elif shared[device.physical] > 1:
        found = NotMeasured(_DIVIDED)
    if isinstance(found, NotMeasured):
        unmeasured[f"{device.place} at the driver"] = found.why
        return _View(device, None)
    is_lost = _DRIVER in unmeasured or f"GPU {found.index}" in unmeasured
    return _View(device, found, is_lost)


class _Book:
    """What is known of one device at each moment of a run."""

    def __init__(self, view: _View, seen: Sequence[Sample | Moment]) -> None:
        self.view = view
        self._device, self._gpu, self._is_lost = view
        self._looks: Sequence[GpuLook] = () if view.gpu is None else view.gpu.looks
        self._times = [look.elapsed_s for look in self._looks]
        pairs = [(self._ours(one), self._peak(one)) for one in seen]
        self.is_ever_right = any(ours is not None and peak > 0 for ours, peak in pairs)
        used_s = [
            one.elapsed_s
            for one, (ours, peak) in zip(seen, pairs, strict=True)
            if ours is None and peak > 0
        ]
        self.objection = self._objection(min(used_s)) if used_s else None
        # The pool is at least its peak, so that at each moment the rest is at most this much.
        self._most_rest = min(
            (ours - peak for ours, peak in pairs if ours is not None and peak > 0), default=None
        )

    def _objection(self, used_s: float) -> str | None:
        """Why the driver's count is not that of a program that had more in use."""
        counts = [look.ours_bytes for look in self._looks if look.ours_bytes is not None]
        if not counts:
            return None
        if any(counts):
            return _LESS
        return _HIDDEN if self._times[-1] >= used_s else _UNSEEN

    def gauges(self, seen: Sample | Moment) -> Mapping[str, int]:
        """What to add to one reading."""
        found = {}
        peak, ours = self._peak(seen), self._ours(seen)
        if peak > 0:
            found[POOL] = self._pool(peak, ours)
        if self._gpu is not None and ours is not None:
            look = self._look(seen.elapsed_s, peak)
            found[DRIVER_OURS] = ours
            found[DRIVER_TOTAL] = self._gpu.total_bytes
            if look is not None:
                found[DRIVER_OTHERS] = max(0, look.used_bytes - ours)
        return {device_gauge(self._device.place, what): value for what, value in found.items()}

    def _pool(self, peak: int, ours: int | None) -> int:
        """All of its limit from the first use on, or as it grows: what the driver adds to it."""
        limit = self._device.limit_bytes
        if self._device.grows is False and limit is not None:
            return max(peak, granted_bytes(limit, ours))
        if ours is None or self._most_rest is None:
            return peak
        return max(peak, ours - self._most_rest)

    def _peak(self, seen: Sample | Moment) -> int:
        place = self._device.place
        peak = seen.gauges.get(device_gauge(place, PEAK), 0)
        return max(peak, seen.gauges.get(device_gauge(place, IN_USE), 0))

    def _ours(self, seen: Sample | Moment) -> int | None:
        look = self._look(seen.elapsed_s, self._peak(seen))
        return None if look is None else look.ours_bytes

    def _look(self, elapsed_s: float, peak: int) -> GpuLook | None:
        """The first look after a moment, for a pool never shrinks; or the last one before its end.

        A look that counts less than the program has in use was taken before or after it. One from
        before the driver was lost says nothing of what came later.
        """
        after = bisect_left(self._times, elapsed_s)
        before = () if self._is_lost and after == len(self._looks) else self._looks[:after]
        for look in (*self._looks[after : after + 1], *reversed(before)):
            if look.ours_bytes is not None and look.ours_bytes >= peak:
                return look
        return None
