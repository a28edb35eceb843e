"""A footprint as a table of plain text."""

from typing import TYPE_CHECKING

from lowwater.model.units import format_bytes, format_interval

if TYPE_CHECKING:
    from lowwater.sizing.found import Footprint


def drawn(footprint: "Footprint") -> str:
    """For `str()`: peaks by batch, what they are made of."""
    sizes = sorted({*(one.batch_size for one in footprint.measured), footprint.batch_size})
    lines = [f"Peak of one training step on {footprint.place}:", ""]
    for size in sizes:
        told = footprint.at(size)
        if told.peak_bytes is None or told.interval_bytes is None:
            lines.append(f"  {size:>6}  {told.because}")
            continue
        span = (
            "measured"
            if told.is_measured
            else format_interval(*told.interval_bytes, told.peak_bytes)
        )
        lines.append(f"  {size:>6}  {format_bytes(told.peak_bytes):>10}  {span}")
    parts = ", ".join(
        f"{part.name} {'up to ' if part.is_at_most else ''}{format_bytes(part.size_bytes)}"
        for part in footprint.parts
    )
    lines += ["", f"At batch {footprint.batch_size}: {parts}", *footprint.notes]
    return "\n".join(lines)
