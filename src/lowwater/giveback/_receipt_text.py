"""A receipt as text: one line for the sum, one for each step, then what is still held."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lowwater.model.plural import plural
from lowwater.model.trace_lines import as_text
from lowwater.model.units import format_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lowwater.giveback.receipt import DeviceReceipt, Receipt, Reserve, StepDone, Survivor

# Less than a page is the noise of our own measuring, not something that was given back.
_NOISE = 4096
_MOST_KINDS = 4
_MOST_NAMES = 3
_MOST_DRAWN = 3
_MOST_HOLDERS = 10
_PARTS = {
    "malloc": "{} from malloc",
    "python": "about {} of Python's small objects",
    "pool": "{} inside TensorFlow's pool",
    "results": "{} of results from other processes",
}


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
    counts = [f"{count:,} {kind if count == 1 else plural(kind)}" for kind, count in _kinds(step)]
    return f"{', '.join(counts)} freed" if counts else ""


def told_reserve(reserve: Reserve) -> str:
    """How much of a pool is free for reuse."""
    free = max(0, reserve.size_bytes - reserve.in_use_bytes)
    part = "all" if reserve.in_use_bytes < _NOISE else format_bytes(free)
    return f"{reserve.pool}, {format_bytes(reserve.size_bytes)}, {part} of it free for reuse"


def told_device(device: DeviceReceipt) -> str:
    """What is in use on it, and what the driver counts."""
    in_use = _change(device.in_use_before_bytes, device.in_use_after_bytes)
    told = f"{device.place}: in use {in_use}"
    if device.driver_after_bytes is None:
        why = device.not_measured.get("driver_bytes", "")
        return f"{told}; the driver's count is not measured ({why})"
    taken = _change(device.driver_before_bytes, device.driver_after_bytes)
    told = f"{told}; taken from the driver {taken}, returned only when the process ends"
    if (device.others_bytes or 0) < _NOISE:
        return told
    return f"{told}; other processes take {format_bytes(device.others_bytes or 0)}"


def _change(before: int | None, after: int | None) -> str:
    if before is None or after is None:
        return "not measured"
    if abs(before - after) < _NOISE:
        return f"{format_bytes(after)} (as before)"
    return f"{format_bytes(before)} → {format_bytes(after)}"


def told_survivors(receipt: Receipt) -> list[tuple[str, Survivor]]:
    """What lives on and who holds it, those with the same holders in one line."""
    groups: dict[tuple[str, ...], list[Survivor]] = {}
    for one in receipt.survivors:
        holders = (one.held_by, *(other.held_by for other in one.others))
        groups.setdefault(holders, []).append(one)
    return [(f"{_names(group)}: {group[0].held_by}", group[0]) for group in groups.values()]


def told_others(survivor: Survivor) -> Iterator[tuple[str, list[str]]]:
    """Who else holds it, and the ways of the first few of them."""
    for number, other in enumerate(survivor.others[:_MOST_HOLDERS], start=2):
        yield f"also: {other.held_by}", as_text(other.trace) if number <= _MOST_DRAWN else []
    left = len(survivor.others) - _MOST_HOLDERS
    if left > 0:
        yield f"also: {left} more variables", []


def told_freed(receipt: Receipt) -> str:
    """Of what the bytes in use consist; empty where nothing came back, or it is not known."""
    if (receipt.freed_bytes or 0) < _NOISE:
        return ""
    told = (
        words.format(format_bytes(receipt.freed_parts[name]))
        for name, words in _PARTS.items()
        if abs(receipt.freed_parts.get(name, 0)) >= _NOISE
    )
    return ", ".join(told)


def headline(receipt: Receipt) -> str:
    """The sum, in one sentence."""
    name = f" {receipt.name}" if receipt.name else ""
    if receipt.freed_bytes is None:
        return f"released{name}: bytes in use cannot be measured here"
    grown = receipt.grown_bytes
    of = f" (of {format_bytes(grown)})" if grown is not None and grown >= _NOISE else ""
    parts = [f"released{name}: {told_bytes(receipt.freed_bytes)} freed{of}"]
    if receipt.device_bytes >= _NOISE:
        parts.append(f"{format_bytes(receipt.device_bytes)} on devices")
    parts.append(f"{told_bytes(receipt.system_bytes)} returned to the system")
    return ", ".join(parts)


def _lines(receipt: Receipt) -> Iterator[str]:
    yield headline(receipt)
    if told := told_freed(receipt):
        yield f"  counted in use: {told}"
    for step in receipt.steps:
        yield f"  {step.name:<21} {_step(step)}".rstrip()
    for what in receipt.emptied:
        yield f"emptied: {what}"
    if not receipt.survivors:
        yield f"still held: {receipt.looked_for}"
    for told, survivor in told_survivors(receipt):
        yield f"still held: {told}"
        yield from (f"  {line}" for line in as_text(survivor.trace))
        for line, trace in told_others(survivor):
            yield f"  {line}"
            yield from (f"  {line}" for line in trace)
    yield from map(told_device, receipt.devices)
    for reserve in receipt.reserves:
        yield f"returned only when the process ends: {told_reserve(reserve)}"
    yield from (f"note: {note}" for note in receipt.notes)


def _step(step: StepDone) -> str:
    if step.skipped:
        return f"{'-':>10}   {step.skipped}"
    to_system = f"{told_bytes(step.system_bytes)} to the system"
    said = (step.about, told_died(step), to_system if (step.system_bytes or 0) >= _NOISE else "")
    return f"{told_bytes(step.in_use_bytes):>10}   {', '.join(part for part in said if part)}"


def _kinds(step: StepDone) -> list[tuple[str, int]]:
    return [*step.died.items()][:_MOST_KINDS]


def _names(group: list[Survivor]) -> str:
    names = ", ".join(one.what for one in group[:_MOST_NAMES])
    left = len(group) - _MOST_NAMES
    return f"{names} and {left} more" if left > 0 else names
