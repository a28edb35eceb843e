"""Amounts as the user wrote them: `"30 min"`, `"8 GiB"`, or plain numbers."""

import math
from collections.abc import Callable

from lowwater.errors import UsageError


def positive(
    name: str, given: str | float | None, parse: Callable[[str], float], example: str
) -> float | None:
    """The number, or None where nothing was given; what cannot be is refused with an example."""
    if given is None:
        return None
    try:
        value = parse(given) if isinstance(given, str) else float(given)
    except (TypeError, ValueError, OverflowError):
        value = 0
    if isinstance(given, bool) or not 0 < value < math.inf:
        raise UsageError(f"{name} must be more than 0", received=repr(given), advice=example)
    return value
