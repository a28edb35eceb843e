"""A receipt as text: one line for the sum, one for each step, then what is still held."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lowwater.trace_lines import as_text
from lowwater.units import format_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lowwater.giveback.receipt import Receipt, Reserve, StepDone, Survivor

# Less than a page is the noise of our own measuring, not something that was given back.
_NOISE = 4096
_MOST_KINDS = 4


def render(receipt: Receipt) -> str:
    """All of the receipt, one fact per line."""
    return "\n".join(_lines(receipt))


def told_bytes(count: int | None) -> str:
    """`61.2 MiB`; `0` for what is lost in the noise."""
    if count is None:
        return "not measured"
    return "0" if count < _NOISE else format_bytes(count)


def told_died(step: StepDone) -> str:
    """`1 model, 3 layers died`, the most telling kinds first."""
    counts = [f"{count:,} {kind if count == 1 else _plural(kind)}" for kind, count in _kinds(step)]
    return f"{', '.join(counts)} died" if counts else ""


def told_reserve(reserve: Reserve) -> str:
    """How much of a pool is free for reuse."""
    free = max(0, reserve.size_bytes - reserve.in_use_bytes)
    part = "all" if reserve.in_use_bytes < _NOISE else format_bytes(free)
    return f"{reserve.pool}, {format_bytes(reserve.size_bytes)}, {part} of it free for reuse"


def told_survivor(survivor: Survivor) -> str:
    """What lives on, and who holds it."""
    return f"{survivor.what}: {survivor.held_by}"


def headline(receipt: Receipt) -> str:
    """The sum, in one sentence."""
    name = f" {receipt.name}" if receipt.name else ""
    if receipt.freed_bytes is None:
        return f"released{name}: bytes in use could not be measured here"
    grown = receipt.grown_bytes
    of = f" (of {format_bytes(grown)})" if grown is not None and grown >= _NOISE else ""
    parts = [f"released{name}: {told_bytes(receipt.freed_bytes)} in use given back{of}"]
    if receipt.device_bytes >= _NOISE:
        parts.append(f"{format_bytes(receipt.device_bytes)} on devices")
    parts.append(f"{told_bytes(receipt.system_bytes)} returned to the system")
    return ", ".join(parts)


def _lines(receipt: Receipt) -> Iterator[str]:
    yield headline(receipt)
    for step in receipt.steps:
        yield f"  {step.name:<21} {_step(step)}".rstrip()
    for what in receipt.emptied:
        yield f"emptied: {what}"
    if not receipt.survivors:
        yield "still held: nothing"
    for survivor in receipt.survivors:
        yield f"still held: {told_survivor(survivor)}"
        yield from (f"  {line}" for line in as_text(survivor.trace))
    for reserve in receipt.reserves:
        yield f"only the end of the process returns: {told_reserve(reserve)}"
    yield from (f"note: {note}" for note in receipt.notes)


def _step(step: StepDone) -> str:
    if step.skipped:
        return f"{'-':>10}   {step.skipped}"
    to_system = f"{told_bytes(step.system_bytes)} to the system"
    said = (step.about, told_died(step), to_system if (step.system_bytes or 0) >= _NOISE else "")
    return f"{told_bytes(step.in_use_bytes):>10}   {', '.join(part for part in said if part)}"


def _kinds(step: StepDone) -> list[tuple[str, int]]:
    return [*step.died.items()][:_MOST_KINDS]


def _plural(kind: str) -> str:
    return f"{kind}s"
