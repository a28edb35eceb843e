"""The run of one experiment, from inside: what is changed, and what the agent does otherwise."""

from collections.abc import Callable
from functools import partial
from typing import Any

from lowwater.agent.escalation import Means
from lowwater.agent.instrumentation.loops import Limited, Rewrite
from lowwater.agent.journal import Journal
from lowwater.diagnose.change import Change
from lowwater.diagnose.cuts import Cuts
from lowwater.diagnose.factors import find_factor
from lowwater.diagnose.look import FirstLook
from lowwater.diagnose.patient_brake import PatientBrake
from lowwater.model.policy import POLICY


class ChangedRun:
    """Made before the agent, which is given its parts; `begin` places what it changes."""

    def __init__(
        self, wanted: dict[str, Any], journal: Journal, shown: Callable[[str], str]
    ) -> None:
        """`wanted` are the changes and the cuts; `shown` is how reports call a file."""
        self._changes = wanted["changes"]
        self._tell_facts = journal.tell_facts
        self._shown = shown
        self._change = Change(journal.note, journal.tell_facts)
        self._known: set[str] = set()
        self._cuts = Cuts(**wanted["cuts"])
        self._limits = self._cuts.limits(self._change.rounds, self._tell_once)

    def means(self, means: Means) -> Means:
        """What a rise is met with in this run, of what it is met with in any."""
        if self._changes:
            # Who holds it is asked of the program as it is; here only how much there is.
            return means._replace(inquire=None)
        return means._replace(brake=PatientBrake(POLICY))

    def begin(self) -> None:
        """Shorten the program and change what is wanted in it."""
        # What is placed last runs first: a factor is given what was cut before.
        for key, detail in self._changes:
            find_factor(key).apply(self._change, detail)
        if not self._changes:
            # What was seen of the program as it is tells which changes apply.
            FirstLook(self._tell_facts, self._shown).apply(self._change)
        self._cuts.apply(self._change, self._limits, self._tell_once)

    def pass_boundary(self, name: str, where: str | None) -> None:
        """A boundary is there, and nothing was measured yet."""
        self._change.pass_boundary(name, where)

    def limit_of(self, filename: str, first_line: int, last_line: int) -> Limited:
        """What ends a loop early, by its lines."""
        return self._limits.of_loop(filename, first_line, last_line)

    def rewrite_of(self, shown: str) -> Rewrite | None:
        """What else is changed in a file of the program."""
        kept_short = self._change.kept_short
        return partial(kept_short.rewrite, shown) if kept_short is not None else None

    def _tell_once(self, key: str, value: str) -> None:
        if key not in self._known:
            self._known.add(key)
            self._tell_facts({key: value})
