"""Let a gradient tape that stays open forget, at the end of every round, what it has recorded."""

import json
import weakref
from types import ModuleType
from typing import Any

from lowwater.diagnose.change import Change
from lowwater.diagnose.factors._factor import Factor
from lowwater.diagnose.facts import Facts

_TAPES = "tensorflow.python.eager.backprop"


class ClosedTapes(Factor):
    """As if the tape were closed and opened again: it records on, and has nothing old."""

    key = "tapes"
    name = "open tapes emptied"
    cleared = "not an open gradient tape"
    blamed = "a gradient tape that is never closed"
    codes = ("LW208",)

    def why_not(self, facts: Facts) -> str | None:
        """The first run has to have shown one that stays open."""
        return None if facts.leaves_tapes else "no gradient tape stays open"

    def wanted(self, facts: Facts, detail: str) -> str:  # noqa: ARG002
        """The unit."""
        return json.dumps(facts.unit)

    def apply(self, change: Change, detail: str) -> None:
        """A tape that is open at two boundaries in a row is open for more than a round."""
        opened: weakref.WeakSet[Any] = weakref.WeakSet()
        before: weakref.WeakSet[Any] = weakref.WeakSet()

        def remember(tape: Any) -> Any:  # noqa: ANN401
            opened.add(tape)
            return tape

        def reset() -> None:
            recording = [tape for tape in opened if tape._recording]  # noqa: SLF001
            for tape in recording:
                if tape in before:
                    tape.reset()
            before.clear()
            before.update(recording)

        def place(module: ModuleType) -> None:
            change.rebind(module.GradientTape._push_tape, "self", remember)  # noqa: SLF001

        change.when_imported(_TAPES, place)
        name, where = json.loads(detail)
        change.at_boundary((name, where), reset)
