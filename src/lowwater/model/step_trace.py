"""What one step asked its pool for, allocation by allocation."""

from dataclasses import dataclass
from itertools import accumulate

# In place of a name: what was allocated is given back.
GIVEN_BACK = ""


@dataclass(frozen=True, slots=True)
class StepTrace:
    """The allocations of one step, in their order.

    `before_bytes` are what the pool had given out when the step began. An event is the name of an
    allocation and its size, or `GIVEN_BACK` and the number of the event that allocated it. Steps
    with other batch sizes have the same names.
    """

    before_bytes: int
    events: tuple[tuple[str, int], ...]

    @property
    def sizes(self) -> dict[str, int]:
        """What was asked for, by name."""
        return {name: size for name, size in self.events if name != GIVEN_BACK}

    @property
    def needed_bytes(self) -> int:
        """The most that was asked for at once, with what was there before."""
        return self.before_bytes + max(self._totals(), default=0)

    @property
    def alive_at_most(self) -> list[str]:
        """The names of what was there at that moment."""
        totals = self._totals()
        until = totals.index(max(totals)) + 1 if totals else 0
        held: dict[int, str] = {}
        for number, (name, size) in enumerate(self.events[:until]):
            if name == GIVEN_BACK:
                del held[size]
            else:
                held[number] = name
        return [*held.values()]

    def _totals(self) -> list[int]:
        changes = (
            -self.events[number][1] if name == GIVEN_BACK else number
            for name, number in self.events
        )
        return [*accumulate(changes)]
