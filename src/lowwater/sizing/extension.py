"""What says the peak at batch sizes that nobody has tried, from those that were measured."""

from typing import Final, Protocol

# Batch sizes: with two, none would show that a peak does not grow as the others say.
FEWEST: Final = 3
# Share of the peak, to one side. A wider interval is no answer. A guess.
WIDEST: Final = 0.3


class Extension(Protocol):
    """Where it says nothing, `why_not` is the reason, and the other questions are not asked."""

    how: str

    @property
    def why_not(self) -> str:
        """Empty where it says something."""
        ...

    @property
    def is_sure(self) -> bool:
        """Whether no larger batch has to be measured."""
        ...

    @property
    def error(self) -> float:
        """By how much real peaks differ from what it says, as a share."""
        ...

    def peak_bytes(self, batch_size: int) -> float:
        """The highest of several steps."""
        ...

    def half_width_bytes(self, batch_size: int) -> float:
        """By how much a real peak may lie above or below."""
        ...

    def least_bytes(self, batch_size: int) -> float:
        """No step takes less; 0 where that is not known."""
        ...

    def needed_bytes(self, batch_size: int) -> float:
        """The same peak, without what a pool rounds up."""
        ...

    def growing_bytes(self, batch_size: int) -> float:
        """What of that grows with the batch."""
        ...

    def batch_that_takes(self, limit_bytes: int) -> int | None:
        """The largest batch whose peak is no higher; None where no batch is too large."""
        ...
