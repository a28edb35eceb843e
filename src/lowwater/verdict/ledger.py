"""The ledger: who holds the memory, in three layers that add up."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

import numpy as np

from lowwater.model import (
    EXIT,
    START,
    DeviceRow,
    Ledger,
    LedgerRow,
    Moment,
    RowName,
    Sample,
    Timeline,
    Unit,
    gauges,
)
from lowwater.model.devices import Device
from lowwater.model.gauges import ResidentParts, device_gauge, resident_parts

SYSTEM: Final = "system"
ALLOCATOR: Final = "allocator"
NOT_RESIDENT: Final = "not resident"
IN_USE: Final = "in use"


# As many points as a sparkline can show.
_MOST_POINTS: Final = 60

_POOL_REMARK: Final = "upper bound; part of the pool may never have been touched"
_PYTHON_REMARK: Final = f"estimated: {gauges.BYTES_PER_PYTHON_BLOCK} bytes per block"
_REMAINDER_REMARK: Final = "thread stacks and memory of other allocators"
_UNSEEN_REMARK: Final = (
    f"{_REMAINDER_REMARK}; at the end, also what was allocated after the last sample inside "
    "the program"
)
_ABSENT_REMARK: Final = (
    "allocated but not written to yet, or already returned to the system; the allocators count "
    "this much more than is resident"
)


_AT_LEAST_REMARK: Final = "at least; TensorFlow reports only the peak"
_GROWN_REMARK: Final = "at least; from what the driver counts"
_FROM_LIMIT_REMARK: Final = "TensorFlow's limit; the driver does not confirm it"
# Refused, TensorFlow asks for a tenth less: the context could hide that.
_LIMIT_REMARK: Final = "TensorFlow's limit; the driver counts at least as much"
_REFUSED_REMARK: Final = "there was no room for TensorFlow's limit, so TensorFlow took less"


_UNTIL_REMARK: Final = "as last counted: at the end the driver no longer answered"


class _Seen(NamedTuple):
    """One reading, and what it says of resident memory."""

    gauges: Mapping[str, int]
    parts: ResidentParts | None


_Booking = Callable[[_Seen], int | None]


@dataclass(frozen=True, slots=True)
class _Readings:
    """All that was read of a run: `series` at the boundaries that are shown, `all` at any time."""

    series: Sequence[_Seen]
    all: Sequence[_Seen]
    first: _Seen | None
    last: _Seen
    is_end_unseen: bool

    def has(self, gauge: str) -> bool:
        """Whether there is anything to book."""
        return any(gauge in seen.gauges for seen in self.all)

    def row(self, layer: str, name: str, booking: _Booking, remark: str = "") -> LedgerRow:
        """One row, with what it held at the boundaries, and in the whole run."""
        return LedgerRow(
            layer,
            name,
            _thinned(_booked(self.series, booking)),
            remark=remark,
            first=None if self.first is None else booking(self.first),
            last=booking(self.last),
            highest=max(_booked(self.all, booking), default=None),
        )


def book(timeline: Timeline, unit: Unit | None) -> Ledger:
    """The ledger of a run at its start, at its end, and at the boundaries of `unit`, or at all."""
    chosen = timeline.of(unit) if unit is not None else timeline.samples
    read = _readings(timeline, chosen)
    if read is None:
        return Ledger(unmeasured=dict(timeline.unmeasured))
    system, in_use = _system(read, timeline), _in_use(read)
    taken = [row for device in timeline.devices for row in _taken(read, device)]
    pools = [row for device in timeline.devices for row in _pool_of(read, device)]
    rows = (*system, *taken, *_allocator(read), *pools, *in_use)
    short = (*system[:1], *_kept(read), *in_use[:1], *_summary_of_devices(taken, pools, in_use[1:]))
    return Ledger(
        tuple(row for row in rows if row.series),
        dict(timeline.unmeasured),
        _counts(read.series),
        tuple(row for row in short if row.series),
    )


def _taken(read: _Readings, device: Device) -> tuple[LedgerRow, ...]:
    """What the driver counts: for this program, and for all others."""
    if not read.has(device_gauge(device.place, gauges.DRIVER_OURS)):
        return ()
    return tuple(
        _counted(read, SYSTEM, row.at(device.place), _gauge(device_gauge(device.place, gauge)))
        for row, gauge in (
            (DeviceRow.OURS, gauges.DRIVER_OURS),
            (DeviceRow.OTHERS, gauges.DRIVER_OTHERS),
        )
    )


def _pool_of(read: _Readings, device: Device) -> tuple[LedgerRow, ...]:
    """What is in the pool but not in use, and what the driver counts beside the pool."""
    place = device.place
    pool, in_use = device_gauge(place, gauges.POOL), device_gauge(place, gauges.IN_USE)
    ours = device_gauge(place, gauges.DRIVER_OURS)
    if not read.has(pool):
        return ()
    remark = _pool_remark(device, max(_booked(read.all, _gauge(ours)), default=None))
    free = read.row(ALLOCATOR, DeviceRow.POOL_FREE.at(place), _difference(pool, in_use), remark)
    rows = [replace(free, is_estimate=True)]
    if read.has(ours):
        rest = _counted(read, ALLOCATOR, DeviceRow.REST.at(place), _difference(ours, pool))
        rows.append(replace(rest, is_estimate=True))
    return tuple(rows)


def _pool_remark(device: Device, ours_bytes: int | None) -> str:
    limit = device.limit_bytes
    if device.grows is not False or limit is None:
        return _AT_LEAST_REMARK if ours_bytes is None else _GROWN_REMARK
    if ours_bytes is None:
        return _FROM_LIMIT_REMARK
    return _LIMIT_REMARK if ours_bytes >= limit else _REFUSED_REMARK


def _counted(read: _Readings, layer: str, name: str, booking: _Booking) -> LedgerRow:
    """A row that rests on the driver's count: it may have been lost before the end."""
    row = read.row(layer, name, booking)
    return row if row.last is not None else replace(row, remark=_UNTIL_REMARK)


def _difference(whole: str, part: str) -> _Booking:
    def booked(seen: _Seen) -> int | None:
        if whole not in seen.gauges or part not in seen.gauges:
            return None
        return max(0, seen.gauges[whole] - seen.gauges[part])

    return booked


def _summary_of_devices(*layers: Sequence[LedgerRow]) -> Iterable[LedgerRow]:
    """Three rows for each device: taken, kept free, in use."""
    shown = {DeviceRow.OURS, DeviceRow.POOL_FREE, DeviceRow.IN_USE}
    found = [row for layer in layers for row in layer]
    places = dict.fromkeys(row.name.partition(" ")[0] for row in found)
    named = {row.name: row for row in found}
    for place in places:
        wanted = (row.at(place) for row in DeviceRow if row in shown)
        yield from (named[name] for name in wanted if name in named)


def _readings(timeline: Timeline, chosen: Sequence[Sample]) -> _Readings | None:
    seen = _in_order([*timeline.samples, *timeline.moments])
    if not seen:
        return None
    # Read once: a reading is booked in many rows.
    read = {id(one): _seen(one.gauges) for one in seen}
    start = next((read[id(one)] for one in timeline.moments if one.name == START), None)
    last = _last_seen_outside(timeline, seen[-1])
    end = read[id(seen[-1])] if last is None else last
    series = [read[id(one)] for one in _in_order(chosen) or seen]
    return _Readings(series, [*read.values(), end], start, end, is_end_unseen=last is not None)


def _last_seen_outside(timeline: Timeline, last: Sample | Moment) -> _Seen | None:
    """A program that was killed has no last word: what was last seen of it from outside counts."""
    looks = timeline.outside[-1:]
    is_over = any(one.name == EXIT for one in timeline.moments)
    if is_over or not looks or looks[0].elapsed_s <= last.elapsed_s:
        return None
    return _seen({**last.gauges, gauges.RSS_ANON: looks[0].anon_bytes})


def _seen(found: Mapping[str, int]) -> _Seen:
    return _Seen(found, resident_parts(found))


def _in_order(seen: Iterable[Sample | Moment]) -> list[Sample | Moment]:
    return sorted(seen, key=lambda one: one.elapsed_s)


def _system(read: _Readings, timeline: Timeline) -> tuple[LedgerRow, ...]:
    """What the kernel sees; no peak is lower than what was seen from outside."""
    if not read.has(gauges.RSS_ANON):
        return ()
    anonymous = read.row(SYSTEM, RowName.ANONYMOUS, _gauge(gauges.RSS_ANON))
    others = (
        read.row(SYSTEM, RowName.MAPPED_FILES, _gauge(gauges.RSS_FILE)),
        read.row(SYSTEM, "resident, shared", _gauge(gauges.RSS_SHMEM)),
    )
    peak = max(_peaks(read, timeline), default=0)
    looks = (look.anon_bytes for look in timeline.outside)
    # Only the sum has a peak in the kernel's books; the kinds have what the others leave of it.
    least = max(looks, default=0), peak - sum(row.highest or 0 for row in others)
    return (
        _at_least(
            read.row(SYSTEM, RowName.RESIDENT, lambda seen: gauges.rss_bytes(seen.gauges)), peak
        ),
        _at_least(anonymous, *least),
        *others,
    )


def _peaks(read: _Readings, timeline: Timeline) -> list[int]:
    """The most resident memory of all kinds, by those who saw it."""
    found = _booked(read.all, _gauge(gauges.RSS_PEAK))
    ending = timeline.ending
    if ending is not None and ending.peak_rss_bytes is not None:
        found.append(ending.peak_rss_bytes)
    return found


def _at_least(row: LedgerRow, *bounds: int) -> LedgerRow:
    return replace(row, highest=max(row.highest or 0, *bounds))


def _gauge(name: str) -> _Booking:
    return lambda seen: seen.gauges.get(name)


def _allocator(read: _Readings) -> tuple[LedgerRow, ...]:
    """Rows that add up to the anonymous resident bytes: the remainder is what they leave.

    The pool takes its memory from malloc, which counts all of it as in use. So what is free
    in the pool is taken out of malloc's row and booked once, in the pool's own.
    """
    if not any(seen.parts for seen in read.all):
        return ()
    rows = [read.row(ALLOCATOR, "malloc, in use", _part("malloc_in_use"))]
    if read.has(gauges.HEAP_FREE):
        rows.append(read.row(ALLOCATOR, RowName.MALLOC_FREE, _part("malloc_free")))
    if read.has(gauges.POOL_SIZE):
        free = read.row(ALLOCATOR, RowName.POOL_FREE, _part("pool_free"), _POOL_REMARK)
        rows.append(replace(free, is_estimate=True))
    if read.has(gauges.PYTHON_BLOCKS):
        small = read.row(ALLOCATOR, "Python small objects", _part("python"), _PYTHON_REMARK)
        rows.append(replace(small, is_estimate=True))
    remark = _UNSEEN_REMARK if read.is_end_unseen else _REMAINDER_REMARK
    rest = read.row(ALLOCATOR, "remainder", _part("rest"), remark)
    return (*rows, rest, *_results(read), *_absent(read))


def _kept(read: _Readings) -> tuple[LedgerRow, ...]:
    """What all allocators together keep, though it is free."""
    if not any(seen.parts for seen in read.all):
        return ()
    row = read.row(ALLOCATOR, RowName.KEPT, lambda seen: gauges.kept_bytes(seen.gauges))
    return (replace(row, is_estimate=read.has(gauges.POOL_SIZE)),)


def _part(name: str) -> _Booking:
    return lambda seen: None if seen.parts is None else getattr(seen.parts, name)


def _results(read: _Readings) -> tuple[LedgerRow, ...]:
    """Apart from the others: they are in the shared bytes of the system, not in the anonymous."""
    if not any(seen.gauges.get(gauges.RESULTS_MAPPED) for seen in read.all):
        return ()
    mapped = _gauge(gauges.RESULTS_MAPPED)
    name = "results of isolated calls, shared"
    return (read.row(ALLOCATOR, name, lambda seen: mapped(seen) or 0),)


def _absent(read: _Readings) -> tuple[LedgerRow, ...]:
    """By how much the allocators count more than there is, where they do."""
    row = read.row(NOT_RESIDENT, "allocated, not in memory", _part("absent"), _ABSENT_REMARK)
    return (row,) if row.highest else ()


def _in_use(read: _Readings) -> tuple[LedgerRow, ...]:
    places = dict.fromkeys(place for seen in read.all for place in gauges.places(seen.gauges))
    return tuple(
        read.row(
            IN_USE,
            IN_USE if place == gauges.HOST else DeviceRow.IN_USE.at(place),
            _in_use_at(place),
        )
        for place in places
    )


def _in_use_at(place: str) -> _Booking:
    return lambda seen: gauges.in_use_bytes(seen.gauges, place)


def _counts(series: Sequence[_Seen]) -> dict[str, tuple[int, int]]:
    found = {}
    for name in gauges.COUNTS:
        values = _booked(series, _gauge(name))
        if values:
            found[name] = (values[0], values[-1])
    return found


def _booked(readings: Iterable[_Seen], booking: _Booking) -> list[int]:
    return [value for seen in readings if (value := booking(seen)) is not None]


def _thinned(values: list[int]) -> tuple[int, ...]:
    """At most as many values as a sparkline shows; the first and the last are always there."""
    kept = np.linspace(0, len(values) - 1, min(len(values), _MOST_POINTS)).round().astype(int)
    return tuple(values[index] for index in kept)
