"""Bytes and durations, written for people and read back: we parse exactly what we print."""

import re
from math import inf, isfinite

_STEPS = ("B", "KiB", "MiB", "GiB", "TiB")
_FACTORS = {
    "": 1,
    "b": 1,
    "kib": 1 << 10,
    "mib": 1 << 20,
    "gib": 1 << 30,
    "tib": 1 << 40,
    "kb": 10**3,
    "mb": 10**6,
    "gb": 10**9,
    "tb": 10**12,
}
_SECONDS = {"ms": 0.001, "s": 1.0, "min": 60.0, "h": 3600.0}
_QUANTITY = re.compile(r"\s*([+-]?\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*")


def format_bytes(count: float) -> str:
    """`4194304` -> `4.0 MiB`; whole bytes stay whole."""
    size, step = abs(float(count)), 0
    # 1023.96 would print as "1024.0 KiB": go up a step where rounding would.
    while round(size, 1) >= 1024 and step < len(_STEPS) - 1:
        size, step = size / 1024, step + 1
    sign = "-" if count < 0 else ""
    return f"{sign}{size:.0f} B" if step == 0 else f"{sign}{size:.1f} {_STEPS[step]}"


def format_growth(count: float) -> str:
    """Like `format_bytes`, with the sign always shown."""
    return format_bytes(count) if count < 0 else f"+{format_bytes(count)}"


def format_interval(low: float, high: float, estimate: float) -> str:
    """Beside its estimate: `3.9 … 4.1`, with units only where they differ."""
    texts = [format_bytes(value) for value in (low, high, estimate)]
    scales = {text.rsplit(" ", 1)[1] for text in texts}
    shown = texts if len(scales) > 1 else [text.rsplit(" ", 1)[0] for text in texts]
    return f"{shown[0]} … {shown[1]}"


def parse_bytes(text: str) -> int:
    """`1.5 GiB`, `200MB` or `4096` -> bytes; anything else is a ValueError."""
    match = _QUANTITY.fullmatch(text)
    factor = _FACTORS.get(match[2].lower()) if match else None
    size = float(match[1]) * factor if match and factor else inf
    if not isfinite(size):
        msg = f"not a size: {text!r} (write it like 1.5 GiB, 200 MB or 4096)"
        raise ValueError(msg)
    return round(size)


def format_duration(seconds: float) -> str:
    """`75` -> `1.2 min`; the largest unit that leaves a number of at least one."""
    for name, smaller, digits in (("h", "min", 1), ("min", "s", 1), ("s", "ms", 0)):
        # As printed: 59.97 s would be "60.0 s".
        if round(seconds / _SECONDS[smaller], digits) >= round(_SECONDS[name] / _SECONDS[smaller]):
            return f"{seconds / _SECONDS[name]:.1f} {name}"
    return f"{seconds / _SECONDS['ms']:.0f} ms"


def parse_duration(text: str) -> float:
    """`30 min`, `1.5h` or `90 s` -> seconds; anything else is a ValueError."""
    match = _QUANTITY.fullmatch(text)
    factor = _SECONDS.get(match[2].lower()) if match else None
    if match is None or factor is None:
        msg = f"not a duration: {text!r} (write it like 30 min, 90 s or 1.5 h)"
        raise ValueError(msg)
    return float(match[1]) * factor
