"""Close the session that a line of the program has opened before, when it opens another."""

import weakref
from types import ModuleType
from typing import Any

from lowwater.diagnose.callers import line_of_the_program
from lowwater.diagnose.change import Change
from lowwater.diagnose.factors._factor import Factor
from lowwater.diagnose.facts import Facts

_SESSIONS = "tensorflow.python.client.session"


class ClosedSessions(Factor):
    """For programs of `tf.compat.v1`; one that needs the older session breaks, and is a row."""

    key = "sessions"
    name = "older sessions closed"
    cleared = "not open sessions"
    blamed = "leaving sessions open"
    codes = ("LW204",)

    def why_not(self, facts: Facts) -> str | None:
        """The first run has to have shown some that stay open."""
        return None if facts.leaves_sessions else "no session is left open"

    def apply(self, change: Change, detail: str) -> None:  # noqa: ARG002
        """When a session is made."""
        last: dict[tuple[str, int] | None, weakref.ref[Any]] = {}

        def close_last(session: Any) -> Any:  # noqa: ANN401
            place = line_of_the_program()
            before = last.get(place, lambda: None)()
            if before is not None:
                before.close()
            last[place] = weakref.ref(session)
            return session

        def place(module: ModuleType) -> None:
            change.rebind(module.BaseSession.__init__, "self", close_last)

        change.when_imported(_SESSIONS, place)
