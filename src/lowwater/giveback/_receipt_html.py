"""A receipt for notebooks: a small table, in the colours of the page it stands on."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from lowwater.giveback import _receipt_text as text
from lowwater.model.trace_lines import as_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lowwater.giveback.receipt import Receipt, StepDone, Survivor

_ROW = "<tr><td>{}</td><td style='text-align:right'>{}</td><td style='text-align:left'>{}</td></tr>"


def render(receipt: Receipt) -> str:
    """The facts of the text, every word of the program escaped."""
    rows = "".join(_row(step) for step in receipt.steps)
    counted = text.told_freed(receipt)
    told = [f"counted in use: {counted}"] if counted else []
    told += [f"emptied: {what}" for what in receipt.emptied]
    told += [] if receipt.survivors else [f"still held: {receipt.looked_for}"]
    rest = [*map(text.told_device, receipt.devices)]
    rest += [
        f"returned only when the process ends: {text.told_reserve(one)}" for one in receipt.reserves
    ]
    held = [_held(f"still held: {line}", one) for line, one in text.told_survivors(receipt)]
    lines = _lines(told) + "".join(held)
    lines += _lines([*rest, *receipt.notes])
    return f"<div><b>{escape(text.headline(receipt))}</b><table>{rows}</table>{lines}</div>"


def _lines(told: Iterable[str]) -> str:
    return "".join(f"<div>{escape(line)}</div>" for line in told)


def _held(told: str, survivor: Survivor) -> str:
    """Who holds it; the drawn ways to it can be folded away."""
    if not survivor.trace:
        return f"<div>{escape(told)}</div>"
    drawn = [*as_text(survivor.trace)]
    for line, trace in text.told_others(survivor):
        drawn += [line, *trace]
    way = escape("\n".join(drawn))
    return f"<details open><summary>{escape(told)}</summary><pre>{way}</pre></details>"


def _row(step: StepDone) -> str:
    said = step.skipped or ", ".join(part for part in (step.about, text.told_died(step)) if part)
    size = "-" if step.skipped else text.told_bytes(step.in_use_bytes)
    if (step.system_bytes or 0) > 0 and not step.skipped:
        said = ", ".join(
            filter(None, (said, f"{text.told_bytes(step.system_bytes)} to the system"))
        )
    return _ROW.format(escape(step.name), escape(size), escape(said))
