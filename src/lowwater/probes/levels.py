"""Where memory stands at one moment, read with the probes of every run."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from lowwater.model import Reading, gauges
from lowwater.probes import default_probes


@dataclass(frozen=True, slots=True)
class Levels:
    """Bytes in use and resident; what a probe cannot tell is None, not zero."""

    in_use_bytes: int | None
    resident_bytes: int | None
    devices: Mapping[str, int] = field(default_factory=dict)
    pool_bytes: int = 0
    pool_in_use_bytes: int = 0
    # What `in_use_bytes` is the sum of.
    in_use_parts: Mapping[str, int] = field(default_factory=dict)

    @property
    def device_bytes(self) -> int:
        """Bytes in use on all accelerators."""
        return sum(self.devices.values())


def levels_now() -> Levels:
    """The levels at this moment.

    With new probes each time: from one reading to the next they take a jump for a new region of
    TensorFlow's pool, and a model that dies or is born in one go looks just like that.
    """
    found: dict[str, int] = {}
    for probe in default_probes():
        reading = probe.read()
        found |= reading.gauges if isinstance(reading, Reading) else {}
    devices = {place: gauges.in_use_bytes(found, place) or 0 for place in _devices(found)}
    return Levels(
        gauges.in_use_bytes(found),
        gauges.rss_bytes(found) if gauges.RSS_ANON in found else None,
        devices,
        found.get(gauges.POOL_SIZE, 0),
        found.get(gauges.POOL_IN_USE, 0),
        _in_use_parts(found) if gauges.HEAP_USED in found else {},
    )


def _in_use_parts(found: Mapping[str, int]) -> dict[str, int]:
    """The first is what `psutil.heap_info()` counts; to malloc all of the pool is in use."""
    return {
        "malloc": found[gauges.HEAP_USED] + found.get(gauges.MMAP_USED, 0),
        "python": gauges.python_bytes(found),
        "pool": -gauges.pool_free_bytes(found),
        "results": found.get(gauges.RESULTS_MAPPED, 0),
    }


def _devices(found: Mapping[str, int]) -> tuple[str, ...]:
    return tuple(place for place in gauges.places(found) if place != gauges.HOST)
