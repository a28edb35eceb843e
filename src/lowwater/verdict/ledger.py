"""The ledger: who holds the memory, in three layers that add up."""

from collections.abc import Callable, Mapping

import numpy as np

from lowwater import gauges
from lowwater.model import Ledger, LedgerRow, Sample, Timeline, Unit

SYSTEM = "system"
ALLOCATOR = "allocator"
IN_USE = "in use"

# As many points as a sparkline can show.
_MOST_POINTS = 60

_Booking = Callable[[Mapping[str, int]], int]

_POOL_REMARK = "estimated: TensorFlow tells the pool's peak, not its size"
_PYTHON_REMARK = f"estimated: {gauges.BYTES_PER_PYTHON_BLOCK} bytes per block"
_REMAINDER_REMARK = (
    "stacks, other allocators; negative where memory was allocated but never touched, "
    "or free memory was given back to the system"
)


def book(timeline: Timeline, unit: Unit | None) -> Ledger:
    """The ledger of a run at the boundaries of `unit`, or at all of them."""
    chosen = timeline.of(unit) if unit is not None else timeline.samples
    samples = tuple(sorted(chosen, key=lambda sample: sample.elapsed_s))
    rows = (*_system(samples), *_allocator(samples), *_in_use(samples))
    return Ledger(rows, dict(timeline.unmeasured), _counts(samples))


def _system(samples: tuple[Sample, ...]) -> tuple[LedgerRow, ...]:
    names = (
        ("resident, anonymous", gauges.RSS_ANON),
        ("resident, mapped files", gauges.RSS_FILE),
        ("resident, shared", gauges.RSS_SHMEM),
    )
    return tuple(
        LedgerRow(SYSTEM, name, _thinned(values))
        for name, gauge in names
        if (values := [s.gauges[gauge] for s in samples if gauge in s.gauges])
    )


def _allocator(samples: tuple[Sample, ...]) -> tuple[LedgerRow, ...]:
    """Rows that add up to the anonymous resident bytes: the remainder is what they leave.

    The pool takes its memory from malloc, which counts all of it as in use. So what is free
    in the pool is taken out of malloc's row and booked once, in the pool's own.
    """
    measured = [s for s in samples if gauges.RSS_ANON in s.gauges and gauges.HEAP_USED in s.gauges]
    if not measured:
        return ()
    rows = [
        LedgerRow(ALLOCATOR, name, _booked(measured, booking), bool(remark), remark)
        for name, booking, remark in _bookings(measured)
    ]
    return (
        *rows,
        LedgerRow(ALLOCATOR, "remainder", _remainder(measured), remark=_REMAINDER_REMARK),
        *_results(measured),
    )


def _results(measured: list[Sample]) -> tuple[LedgerRow, ...]:
    """Apart from the others: they are in the shared bytes of the system, not in the anonymous."""
    if not any(sample.gauges.get(gauges.RESULTS_MAPPED) for sample in measured):
        return ()
    values = _booked(measured, lambda seen: seen.get(gauges.RESULTS_MAPPED, 0))
    return (LedgerRow(ALLOCATOR, "results of isolated calls, shared", values),)


def _bookings(measured: list[Sample]) -> list[tuple[str, _Booking, str]]:
    """What each allocator holds, where it has a gauge; an estimate says so in its remark."""
    found: list[tuple[str, _Booking, str]] = [("malloc, in use", _malloc_in_use, "")]
    if any(gauges.HEAP_FREE in sample.gauges for sample in measured):
        found.append(("malloc, free but kept", _malloc_free, ""))
    if any(gauges.POOL_SIZE in sample.gauges for sample in measured):
        found.append(("TensorFlow pool, free for reuse", gauges.pool_free_bytes, _POOL_REMARK))
    if any(gauges.PYTHON_BLOCKS in sample.gauges for sample in measured):
        found.append(("Python small objects", gauges.python_bytes, _PYTHON_REMARK))
    return found


def _malloc_in_use(seen: Mapping[str, int]) -> int:
    taken = seen[gauges.HEAP_USED] + seen.get(gauges.MMAP_USED, 0)
    return taken - gauges.pool_free_bytes(seen)


def _malloc_free(seen: Mapping[str, int]) -> int:
    return seen.get(gauges.HEAP_FREE, 0)


def _booked(measured: list[Sample], booking: _Booking) -> tuple[int, ...]:
    return _thinned([booking(sample.gauges) for sample in measured])


def _remainder(measured: list[Sample]) -> tuple[int, ...]:
    bookings = [booking for _, booking, _ in _bookings(measured)]
    return _thinned(
        [s.gauges[gauges.RSS_ANON] - sum(book_(s.gauges) for book_ in bookings) for s in measured]
    )


def _in_use(samples: tuple[Sample, ...]) -> tuple[LedgerRow, ...]:
    places = dict.fromkeys(place for s in samples for place in gauges.places(s.gauges))
    rows = []
    for place in places:
        found = (gauges.in_use_bytes(sample.gauges, place) for sample in samples)
        values = [value for value in found if value is not None]
        name = IN_USE if place == gauges.HOST else f"{place} in use"
        if values:
            rows.append(LedgerRow(IN_USE, name, _thinned(values)))
    return tuple(rows)


def _counts(samples: tuple[Sample, ...]) -> dict[str, tuple[int, int]]:
    found = {}
    for name in gauges.COUNTS:
        values = [sample.gauges[name] for sample in samples if name in sample.gauges]
        if values:
            found[name] = (values[0], values[-1])
    return found


def _thinned(values: list[int]) -> tuple[int, ...]:
    """At most as many values as a sparkline shows; the first and the last are always there."""
    kept = np.linspace(0, len(values) - 1, min(len(values), _MOST_POINTS)).round().astype(int)
    return tuple(values[index] for index in kept)
