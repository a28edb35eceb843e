"""What a change does in every round: of the program's loops, its epochs, its calls of Keras."""

import time
from collections.abc import Callable


class Rounds:
    """Counts the rounds, and acts in each; not more than half of the time in all.

    A hot loop makes thousands of rounds in a second, and nothing that is done there is as fast.
    """

    def __init__(self) -> None:
        """Nothing is to be done yet."""
        self.made = 0
        self._acts: list[Callable[[], object]] = []
        self._next_s = 0.0

    def add(self, act: Callable[[], object]) -> None:
        """Do this, too."""
        self._acts.append(act)

    def passed(self, *, is_outer: bool = True) -> None:
        """The program begins or ends a round; those of loops inside of others do not count."""
        self.made += is_outer
        began_s = time.monotonic()
        if not self._acts or began_s < self._next_s:
            return
        for act in self._acts:
            act()
        ended_s = time.monotonic()
        self._next_s = ended_s + (ended_s - began_s)
