"""One step of what to do next."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class NextStep:
    """One thing to do, what to type for it, and the causes whose findings say the same."""

    text: str
    command: str | None = None
    said_by: frozenset[str] = frozenset()
