"""What one look at the objects may take, so that it never harms the program that it looks at."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

# More would hold up the program for too long.
MOST_OBJECTS = 3_000_000
_MOST_SECONDS = 5.0
# What is used up is asked once for this many references: asking takes as long as following a few.
_BETWEEN_LOOKS = 1_000


class Cut(Enum):
    """Why a look did not reach all objects."""

    MEMORY = "memory"
    TIME = "time"
    NUMBER = "number"
    FAILED = "failed"


@dataclass(slots=True)
class Budget:
    """Objects, bytes beside the program's own, and seconds of computing.

    The seconds are this thread's own: on a busy machine a look goes as far as on a quiet one.
    """

    most_bytes: int | None = None
    most_objects: int = MOST_OBJECTS
    most_seconds: float = _MOST_SECONDS
    clock: Callable[[], float] = time.thread_time
    _began_s: float | None = None
    _until_next_look: int = _BETWEEN_LOOKS

    def start(self) -> None:
        """Begin to count the time."""
        self._began_s = self.clock()

    def is_due(self, followed: int) -> bool:
        """Whether to look again if it is used up, after this many more references."""
        self._until_next_look -= followed
        if self._until_next_look > 0:
            return False
        self._until_next_look = _BETWEEN_LOOKS
        return True

    def shortage(self, objects: int, held_bytes: int) -> Cut | None:
        """What is used up."""
        if self._began_s is not None and self.clock() - self._began_s > self.most_seconds:
            return Cut.TIME
        return self.lack(objects, held_bytes)

    def lack(self, objects: int, held_bytes: int) -> Cut | None:
        """What a look that needs so much would lack."""
        if self.most_bytes is not None and held_bytes > self.most_bytes:
            return Cut.MEMORY
        return Cut.NUMBER if objects > self.most_objects else None

    def left_bytes(self, held_bytes: int) -> int | None:
        """What may still be taken; None where there is no limit."""
        return None if self.most_bytes is None else max(0, self.most_bytes - held_bytes)
