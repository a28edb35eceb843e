"""What is done to a program that rises: the collector is run, and all objects are looked at."""

import gc
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from lowwater.agent.brake import Brake
from lowwater.agent.journal import Journal
from lowwater.agent.native_trace.tracer import Boundary, NativeTracer
from lowwater.agent.readings import Readings
from lowwater.agent.suspicion import ENOUGH_CENSUSES, Suspicion
from lowwater.model.gauges import POOL_IN_USE, Level, level_of, python_bytes
from lowwater.model.interruption import let_through
from lowwater.model.policy import Policy
from lowwater.recording.records import Collected, Counted, Noted, Record, Weighed

_TOO_DEAR = (
    "the run was too short for a heap scan, which takes seconds of processor time; a longer run "
    "can show what holds the memory"
)
# Looks at all objects of the program, told what is in use and how much of it is the rise; answers
# how many there were, and what to record. None where there is nothing to record: there was no room
# to look, say.
Inquiry = Callable[[int, int], tuple[int, Sequence[Record]] | None]


class Means(NamedTuple):
    """What a rise is met with, each where there is one: a census, and memray after it.

    The brake limits what they cost.
    """

    inquire: Inquiry | None = None
    native_tracer: NativeTracer | None = None
    brake: Brake | None = None


class Escalation:
    """Decides at each boundary whether an experiment is due, makes it, and books its cost."""

    def __init__(
        self,
        readings: Readings,
        journal: Journal,
        means: Means | None = None,
        policy: Policy | None = None,
    ) -> None:
        """Without `means` the collector is run, and nothing else."""
        means = means or Means()
        self._readings = readings
        self._journal = journal
        self._clocks = journal.clocks
        self._policy = policy or Policy()
        # What a busy worker finds worth a look must not use up what the main loop's rise needs.
        most = self._policy.most_censuses
        self._of_main = Suspicion(self._policy, most)
        self._of_others = Suspicion(self._policy, most - ENOUGH_CENSUSES)
        self._latest: tuple[Boundary, Sequence[int]] | None = None
        self._was_too_dear = False
        self._has_told_why = False
        self._around_census: tuple[int, int] | None = None
        self._others_pass = False
        self._main_goes_on = False
        self._native_tracer = means.native_tracer
        self._inquire = means.inquire
        self.brake = means.brake or Brake(self._policy)
        self.collections = 0
        self.censuses = 0

    @property
    def spent_s(self) -> float:
        """The processor time that all experiments have cost."""
        tracing_s = self._native_tracer.spent_s if self._native_tracer is not None else 0.0
        return self.brake.spent_s + tracing_s

    @property
    def takes_censuses(self) -> bool:
        """Whether objects are scanned at all, and no scan has failed."""
        return self._inquire is not None

    @property
    def is_traced(self) -> bool:
        """Whether memray runs at this moment."""
        return self._native_tracer is not None and self._native_tracer.is_running

    def is_tracing(self, place: Boundary, *, at_end: bool, may_act: bool) -> bool:
        """Whether memray runs, so that a sample would be untrue."""
        tracer = self._native_tracer
        return tracer is not None and tracer.passes(place, at_end=at_end, may_act=may_act)

    def consider(
        self,
        place: Boundary,
        level: Level,
        last_ordinals: Sequence[int],
        *,
        at_end: bool,
        around: tuple[int, int] | None,
    ) -> None:
        """Collect if the rise deserves it, and take a census if that did not explain it.

        A rise is one of all places together: on a device alone, the host shows next to nothing.

        `around` is the loop that this one is within, and its round. Such a loop ends many times:
        only at the end of one that is within none there may be no later chance.
        """
        is_last = at_end and around is None
        self._note_thread()
        if self._is_main:
            self._latest = place, last_ordinals
        if self._wants_collection(place, level.everywhere_bytes, is_last=is_last):
            gauges = self._collect(place, level)
        elif is_last and self._suspicion.lacks_only_a_census(level.everywhere_bytes):
            gauges = (
                self._readings.read()
            )  # the last round was collected, just before the loop ended
        else:
            return
        held = _everywhere(gauges)
        if held is None:  # only resident memory is known: a collection says nothing about it
            held = level.everywhere_bytes
        if self._is_in_the_same_round(around):
            return
        if self._wants_census(place.unit_id, held, at_end=is_last):
            self._take_census(place, gauges, held, last_ordinals)
            self._around_census = around

    def _is_in_the_same_round(self, around: tuple[int, int] | None) -> bool:
        """Whether the loop around has not gone on since the last census, though it does go on.

        What comes and goes within its round would seem to grow: a list of the batches of an epoch.
        """
        has_rounds = around is not None and around[1] > 0
        return has_rounds and around == self._around_census

    def finish(self) -> None:
        """The program ends: what is under way ends with it, and so do all loops."""
        if self._native_tracer is not None:
            self._native_tracer.finish()
        if self._latest is not None and self._is_main and self._of_main.lacks_a_census:
            self._take_last_chance(*self._latest)
        if self._was_too_dear and self.censuses < ENOUGH_CENSUSES and not self._has_told_why:
            self._journal.append(Noted(self._journal.elapsed_us(self._clocks.wall()), _TOO_DEAR))
            self._has_told_why = True  # once, however often the end comes

    def _take_last_chance(self, place: Boundary, last_ordinals: Sequence[int]) -> None:
        """Where a loop was left by an exception, or never: the program's variables are there yet.

        Its functions have ended, so that a collection says nothing about its rounds.
        """
        level = _everywhere(self._readings.read()) or 0
        if not self._of_main.wants_census(place.unit_id, level, at_end=True):
            return
        own_s = self._clocks.own()
        gc.collect()
        gauges = self._readings.read()
        self.brake.collected(self._clocks.own() - own_s)
        self.collections += 1
        held = _everywhere(gauges) or 0
        if self._wants_census(place.unit_id, held, at_end=True):
            self._take_census(place, gauges, held, last_ordinals)

    def abandon(self) -> None:
        """Forget it all, as in a forked child."""
        if self._native_tracer is not None:
            self._native_tracer.abandon()

    @property
    def _is_main(self) -> bool:
        return threading.get_ident() == threading.main_thread().ident

    @property
    def _suspicion(self) -> Suspicion:
        return self._of_main if self._is_main else self._of_others

    def _note_thread(self) -> None:
        if self._is_main:
            self._main_goes_on = self._others_pass
        else:
            self._others_pass = True

    @property
    def _left_s(self) -> float:
        """The start credit is the main thread's, unless it only waits for the others."""
        return self.brake.left_s(self._clocks.process(), with_credit=self._has_credit)

    @property
    def _has_credit(self) -> bool:
        return self._is_main or not self._main_goes_on

    def _wants_collection(self, place: Boundary, level_bytes: int, *, is_last: bool) -> bool:
        is_wanted = self._suspicion.wants_collection(
            place.unit_id, place.ordinal, level_bytes, at_end=is_last
        )
        if is_last and self._suspicion.lacks_a_census and self._allows_last_census:
            return is_wanted
        return is_wanted and self.brake.allows_collection(
            self._clocks.process(), with_credit=self._has_credit
        )

    @property
    def _allows_last_census(self) -> bool:
        return self.brake.allows_last_census(self._clocks.process())

    def _wants_census(self, unit_id: int, held_bytes: int, *, at_end: bool) -> bool:
        return (
            self.takes_censuses
            and self.censuses < self._policy.most_censuses
            and self._suspicion.wants_census(unit_id, held_bytes, at_end=at_end)
            and self._affords_census(at_end=at_end)
        )

    def _affords_census(self, *, at_end: bool) -> bool:
        """The second is better late, with more growth behind it, than soon and the last one."""
        if not self._suspicion.lacks_a_census:
            affords = self.brake.allows_census(self._left_s)
        elif at_end:
            affords = self._allows_last_census
        else:
            affords = self.brake.allows_census(self._left_s, leaving=1)
        self._was_too_dear |= not affords
        return affords

    def _collect(self, place: Boundary, before: Level) -> dict[str, int]:
        """Run the collector; answers the gauges after it."""
        start_s, own_s = self._clocks.wall(), self._clocks.own()
        gc.collect()
        gauges = self._readings.read()
        self.brake.collected(self._clocks.own() - own_s)
        after = level_of(gauges)
        if after is None:
            after = before
        else:
            at_us = self._journal.elapsed_us(start_s)
            # What was freed on a device, the samples around it say.
            self._journal.append(
                Collected(place.unit_id, place.ordinal, at_us, before.host_bytes, after.host_bytes)
            )
        self._suspicion.collected(place.unit_id, after.everywhere_bytes)
        self.collections += 1
        return gauges

    def _take_census(
        self, place: Boundary, gauges: dict[str, int], held_bytes: int, last_ordinals: Sequence[int]
    ) -> None:
        """Look at all objects; if that fails once, it is not tried again."""
        start_s, own_s = self._clocks.wall(), self._clocks.own()
        try:
            self._look(place, gauges, held_bytes, last_ordinals)
        except Exception as error:  # noqa: BLE001 - ours must not become the program's
            let_through(error)
            self._inquire = None
            why = f"the heap scan failed: {type(error).__name__}: {error}"
            self._journal.append(Noted(self._journal.elapsed_us(start_s), why))
        finally:
            # As before it, CPython must hold no freed blocks ready: it counts them as used.
            _collect_what_is_new()
            self._readings.book_as_own(gauges)
            self.brake.counted(self._clocks.own() - own_s)

    def _look(
        self, place: Boundary, gauges: dict[str, int], held_bytes: int, last_ordinals: Sequence[int]
    ) -> None:
        assert self._inquire is not None
        start_s = self._clocks.wall()
        tracer = self._native_tracer
        known = _everywhere(gauges)
        risen_bytes = self._suspicion.risen(place.unit_id, held_bytes)
        answer = self._inquire(held_bytes, risen_bytes)
        self.censuses += 1
        self._suspicion.census_taken(place.unit_id, held_bytes)
        if answer is None:
            return
        objects, found = answer
        if any(isinstance(one, Weighed) and one.starts_over for one in found):
            self._suspicion.started_over(held_bytes)
        taken = Counted(
            place.unit_id,
            place.ordinal,
            self._journal.elapsed_us(start_s),
            round((self._clocks.wall() - start_s) * 1e6),
            held_bytes,
            objects,
            tuple(last_ordinals),
            None if known is None else known - python_bytes(gauges),
        )
        for record in (taken, *found):
            self._journal.append(record)
        if tracer is not None:
            tracer.census_taken(taken, found, gauges.get(POOL_IN_USE, 0))


def _everywhere(gauges: Mapping[str, int]) -> int | None:
    """In use on the host and on all devices, where that is known."""
    level = level_of(gauges)
    return None if level is None else level.everywhere_bytes


def _collect_what_is_new() -> None:
    """As good as a collection of everything, and a thousandth of its time, right after one.

    What the collector does not list it does not look at; but its end empties the free lists.
    """
    gc.collect(1)
    if gc.get_freeze_count():  # the program's own, that must not be thawed
        gc.collect()
        return
    try:
        gc.freeze()
        gc.collect()
    finally:
        gc.unfreeze()
