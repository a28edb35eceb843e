"""What was asked of the ladder, and what its steps tell each other."""

import os
import sys
import threading
from dataclasses import dataclass, field
from typing import Any, Literal

from lowwater.giveback.block import Block
from lowwater.giveback.gradients.lending import graphs_now
from lowwater.giveback.hollow import is_shell
from lowwater.giveback.living import DEFINITION, GRAPH, Watched

# Two releases at the same time would take each other's looks for references of the program.
one_at_a_time = threading.RLock()


def _unlock_in_child() -> None:
    """A thread that held the lock when the process was forked is not there to give it back."""
    lock: Any = one_at_a_time
    if not lock._is_owned():  # noqa: SLF001 - as the standard library does with its own
        lock._at_fork_reinit()  # noqa: SLF001


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_unlock_in_child)

Level = Literal["gentle", "thorough"]


@dataclass(slots=True)
class ReleaseRequest:
    """One release. Objects are held weakly: this must not be what keeps them alive.

    `given` should die, and with them their `parts`. With `hollow` they are emptied if they do
    not; with a `block` those of them are emptied that only the block's variables hold. `kept`
    are to be left alone. `looked_for` is what the receipt says if nothing is left.
    """

    where: str
    name: str | None = None
    level: Level = "thorough"
    given: list[Watched] = field(default_factory=list)
    parts: list[Watched] = field(default_factory=list)
    kept: set[int] = field(default_factory=set)
    block: Block | None = None
    hollow: bool = False
    force: bool = False
    notebook: bool = False
    emptied: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    grown_bytes: int | None = None
    looked_for: str = "no model, optimizer, layer or variable of the program"
    # All that lived of Keras and TensorFlow when it began: to look for it takes half a collection.
    seen: list[Watched] = field(default_factory=list)

    def alive(self, *kinds: str) -> list[Watched]:
        """What should die and has not, of these kinds or of all."""
        return [one for one in self.given if one.is_alive and (not kinds or one.kind in kinds)]

    def graphs(self) -> list[Any]:
        """All graphs that live; where other threads run, they may have made some meanwhile."""
        is_alone = len(sys._current_frames()) == 1  # noqa: SLF001 - documented
        return self.living(GRAPH, DEFINITION) if is_alone else graphs_now()

    def living(self, *kinds: str) -> list[Any]:
        """Everything of these kinds that lives and was not emptied, for a moment."""
        things = (one.reference() for one in self.seen if one.kind in kinds)
        return [thing for thing in things if thing is not None and not is_shell(thing)]
