"""From the readings of one process to a row of numbers, and what they say of the advice."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

NOT_MEASURED = "not measured"
# What is taken once and not again leaves up to this per round, spread over six rounds.
FLAT_BYTES = 200_000
# The numbers of a model of 100 MB differ by some tenths of a megabyte from run to run.
FLAT_SHARE = 0.01
# Parts of what stays without any advice: more than the first does not help, less than the
# second helps.
USELESS, USEFUL = 0.6, 0.15


@dataclass(frozen=True)
class Row:
    """What one advice leaves, per round; None where it could not be read."""

    advice: str
    as_is_bytes: float | None = None
    collected_bytes: float | None = None
    resident_bytes: float | None = None
    functions: float | None = None
    gradients: float | None = None
    why_not: str | None = None


def slope(values: Sequence[float]) -> float:
    """Growth per round: the straight line through all rounds with the least squares."""
    middle = (len(values) - 1) / 2
    weights = [position - middle for position in range(len(values))]
    spread = sum(weight * weight for weight in weights)
    return sum(map(float.__mul__, weights, map(float, values))) / spread if spread else 0.0


def row_of(cell: Mapping[str, Any]) -> Row:
    """The numbers of one process."""
    if "not_measured" in cell:
        return Row(cell["advice"], why_not=cell["not_measured"])
    return Row(
        cell["advice"],
        _slope_of(cell, "in_use_bytes"),
        _between(cell, "in_use_bytes"),
        _slope_of(cell, "resident_bytes"),
        _between(cell, "functions"),
        _between(cell, "gradients"),
    )


def _slope_of(cell: Mapping[str, Any], name: str) -> float | None:
    values = [one[name] for one in cell["rounds"]]
    return None if None in values else slope(values)


def _between(cell: Mapping[str, Any], name: str) -> float | None:
    before, after = cell["before"][name], cell["after"][name]
    return None if None in (before, after) else (after - before) / len(cell["rounds"])


def megabytes(count: float | None) -> str:
    """`4610000` -> `+4.61`; a number that is not there says so."""
    if count is None:
        return NOT_MEASURED
    told = f"{count / 1e6:+.{0 if abs(count) >= 100e6 else 2}f}"  # noqa: PLR2004 - 143, not 143.21
    return "0.00" if told in ("+0.00", "-0.00") else told


def counted(count: float | None) -> str:
    """Entries per round."""
    return NOT_MEASURED if count is None else f"{count:+.0f}".replace("+0", "0").replace("-0", "0")


def share(row: Row, nothing: Row) -> float | None:
    """Which part stays of what stays if nothing is done; None if hardly anything does."""
    if row.collected_bytes is None or nothing.collected_bytes is None:
        return None
    if is_flat(nothing):
        return None
    return max(0.0, row.collected_bytes / nothing.collected_bytes)


def is_flat(nothing: Row) -> bool:
    """Whether hardly anything stays: little, or little beside what a round makes."""
    made, kept = nothing.as_is_bytes or 0, nothing.collected_bytes or 0
    return kept < max(FLAT_BYTES, FLAT_SHARE * made)


def percent(part: float | None) -> str:
    """`0.88` -> `88 %`."""
    return "" if part is None else f"{part:.0%}".replace("%", " %")


def judged(row: Row, nothing: Row) -> str:
    """`helps`, `in part` or `does not help`; `nothing to free` where all is flat."""
    part = share(row, nothing)
    if row.collected_bytes is None:
        return NOT_MEASURED
    if part is None:
        return "nothing to free"
    if part > USELESS:
        return "does not help"
    return "helps" if part < USEFUL or row.collected_bytes < FLAT_BYTES else "in part"
