"""How verdicts speak of units, places and amounts."""

from typing import TYPE_CHECKING

from lowwater.model import Unit, gauges
from lowwater.model.plural import plural
from lowwater.model.units import format_bytes, format_interval

if TYPE_CHECKING:
    from lowwater.verdict.trend import Trend

_CALLS = (
    *("fit", "evaluate", "predict", "train_on_batch", "test_on_batch", "predict_on_batch"),
    "clear_session",
)
_NOUNS = {
    "model": ("model built", "models built"),
    "session": ("session opened", "sessions opened"),
    "time": ("second", "seconds"),
    **{name: (f"{name} call", f"{name} calls") for name in _CALLS},
}


def one(unit: Unit) -> str:
    """One round trip: `epoch`, `fit call`, `model built`."""
    return _NOUNS.get(unit.name, (unit.name, ""))[0]


def many(unit: Unit) -> str:
    """Several of them: `epochs`, `fit calls`, `iterations of the loop at train.py:20`."""
    nouns = _plural(unit)
    return f"{nouns} of the loop at {unit.where}" if _is_loop(unit) else nouns


def counted(count: int, unit: Unit, which: str = "") -> str:
    """A number of round trips: `1 epoch`, `3 epochs`, `3 more epochs`."""
    if which:
        return f"{count} {which} {one(unit) if count == 1 else _plural(unit)}"
    return f"1 {one(unit)}" if count == 1 else f"{count} {many(unit)}"


def memory_of(place: str, *, is_resident: bool = False) -> str:
    """What was judged, as the subject of a sentence."""
    if is_resident:
        return "resident memory"
    return f"{place} memory in use" if place != gauges.HOST else "host memory in use"


def between(trend: "Trend") -> str:
    """An interval next to its estimate: `3.9 … 4.1`, with units only where they differ."""
    return format_interval(trend.low, trend.high, trend.slope)


def _is_loop(unit: Unit) -> bool:
    return unit.name == "iteration" and unit.where is not None


def amounts(rate: float, unit: Unit) -> str:
    """What a rate amounts to in the long run."""
    thousand, million = format_bytes(1_000 * rate), format_bytes(1_000_000 * rate)
    return f"That is {thousand} per 1,000 {_plural(unit)}, {million} per 1,000,000"


def _plural(unit: Unit) -> str:
    return _NOUNS.get(unit.name, ("", plural(unit.name)))[1]
