"""What one step asked its pool for, allocation by allocation."""

from dataclasses import dataclass
from itertools import accumulate

# In place of a name: what was allocated is given back.
GIVEN_BACK = ""


@dataclass(frozen=True, slots=True)
class StepTrace:
    """The allocations of one step, in their order.

    `kept_bytes` are the sizes of what is there before and after. An event is the name of an
    allocation and its size, or `GIVEN_BACK` and the number of the event that allocated it. Steps
    with other batch sizes have the same names.
    """

    kept_bytes: tuple[int, ...]
    events: tuple[tuple[str, int], ...]

    @property
    def needed_bytes(self) -> int:
        """The most that was asked for at once."""
        changes = (
            -self.events[number][1] if name == GIVEN_BACK else number
            for name, number in self.events
        )
        return sum(self.kept_bytes) + max(0, *accumulate(changes), 0)
