"""What one variable of the program holds, of one kind in one place."""

from dataclasses import dataclass
from typing import Final

# The kind of what a heap scan has only seen to grow.
GROWN: Final = "grown"


@dataclass(frozen=True, slots=True)
class Holding:
    """A row of `lowwater.holdings()`, and of an autopsy.

    `where` is the line that sets the variable, or that adds to it if it is a container; None where
    it is not known.
    """

    kind: str
    count: int
    size_bytes: int
    place: str
    held_by: str
    where: str | None = None
