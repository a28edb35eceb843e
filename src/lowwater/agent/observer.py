"""Takes a sample at a boundary: reads the probes, writes the record, suspects a rise."""

import threading
from collections.abc import Callable, Mapping, Sequence

from lowwater.agent.escalation import Escalation, Means
from lowwater.agent.journal import Journal
from lowwater.agent.native_trace.tracer import Boundary
from lowwater.agent.readings import Readings
from lowwater.model import Sample
from lowwater.model.gauges import RSS_ANON, RSS_PEAK, Level, device_bytes, level_of
from lowwater.model.interruption import let_through, quietly
from lowwater.probes.host import peak_bytes
from lowwater.recording.records import Columns, Passed, Record, Sampled, Spent, UnitSeen
from lowwater.recording.thinning import LowWaterSlots, slot_width

# Loops of one program; more than this is a library, not a training script.
MOST_LOOPS = 64
LOOP = "iteration"
# What runs within them comes again: loops of the program, and the epochs of a `fit`.
_WITH_ROUNDS = frozenset({LOOP, "epoch"})
# What the samples of one unit may cost, beside those that are taken at any cost: a share of the
# processor time of the program.
SHARE = 0.0005
# The last sample of a loop has no later chance: it may overdraw.
OVERDRAFT = 2.0
# At any cost: the first rounds, then this many of each doubling. A million rounds have 336
# samples, which take 6 ms, or 40 ms in a program with TensorFlow.
FIRST_ROUNDS = 128
SAMPLES_PER_DOUBLING = 16
_ANY_PRIME = 7919
# A thread waits so long for another that samples, or looks at all objects. It may hold what the
# other one is waiting for: then it goes on without its sample.
PATIENCE_S = 2.0
# The unit of last resort: seconds.
BY_TIME = "time"
# Another thread may be about to look at all objects.
_LONGEST_WAIT_S = 1.0
# For an experiment: what it does at each boundary of a unit, by its name and place, before anything
# is measured there.
BeforeSample = Callable[[str, str | None], None]
# For the guard: what it does at each boundary of a unit, by its name, place and round.
AfterSample = Callable[[str, str | None, int], None]


class SamplingPace:
    """Tells which rounds of a unit are sampled: as many of every doubling, and all if affordable.

    The rounds decide, and processor time: on a busy machine the same ones are sampled.
    """

    def __init__(self, process_s: float) -> None:
        """Nothing sampled yet."""
        self._since_s = process_s
        self._next = 0
        self._next_end = 0
        self.spent_s = 0.0
        self.samples = 0

    def allows(self, ordinal: int, process_clock: Callable[[], float], *, at_end: bool) -> bool:
        """Whether this round is to be sampled."""
        if ordinal >= (self._next_end if at_end else self._next):
            return True
        budget_s = SHARE * (process_clock() - self._since_s)
        return self.spent_s <= budget_s * (OVERDRAFT if at_end else 1.0)

    def spend(self, ordinal: int, seconds: float, *, at_end: bool) -> None:
        """Book what the sample of a round has cost."""
        self.spent_s += seconds
        self.samples += 1
        if at_end:
            self._next_end = ordinal + slot_width(ordinal)
        if ordinal >= self._next:
            # Never at the same distance: what happens every eighth round would hide otherwise.
            width = rounds_per_sample(ordinal)
            self._next = (ordinal // width + 1) * width + self.samples * _ANY_PRIME % width


def rounds_per_sample(ordinal: int) -> int:
    """Of how many rounds one is sampled at any cost, at this point of the run."""
    doublings = (ordinal // FIRST_ROUNDS).bit_length()
    return (FIRST_ROUNDS // SAMPLES_PER_DOUBLING << doublings - 1) if doublings else 1


class Observer:
    """The agent's centre. Whatever fails in here becomes a note, never an exception."""

    def __init__(
        self,
        journal: Journal,
        readings: Readings,
        means: Means | None = None,
        before_sample: BeforeSample | None = None,
        after_sample: AfterSample | None = None,
    ) -> None:
        """Observe with these readings into this journal; `means` is what a rise is met with."""
        self._journal = journal
        self._readings = readings
        self._clocks = journal.clocks
        self.escalation = Escalation(readings, journal, means)
        self._before_sample = before_sample
        self._after_sample = after_sample
        self._unit_ids: dict[tuple[str, str | None], int] = {}
        self._slots: list[LowWaterSlots] = []
        self._paces: list[SamplingPace] = []
        self._last_ordinals: list[int] = []
        self._loops: set[int] = set()
        self._open_loops: list[int] = []
        self._columns: list[str] = []
        self._last_sample_s = journal.began_s
        # Ticks come from several threads, and in one from within another: of a finalizer that a
        # collection of ours runs, or of a signal handler.
        self._lock = threading.RLock()
        self._inside: int | None = None
        self._is_patient = True

    @property
    def is_on(self) -> bool:
        """Whether anything is recorded."""
        return self._journal.is_on

    def unit_id(self, name: str, where: str | None = None) -> int | None:
        """The number of a unit, new or known; None when there are too many."""
        known = self._unit_ids.get((name, where))
        if known is not None:
            return known
        # The calls and epochs of the framework always have their place.
        if name == LOOP and len(self._unit_ids) >= MOST_LOOPS:
            self._journal.note(f"more than {MOST_LOOPS} loops: the later ones are not watched")
            return None
        unit_id = len(self._unit_ids)
        self._unit_ids[name, where] = unit_id
        if name in _WITH_ROUNDS:
            self._loops.add(unit_id)
        self._slots.append(LowWaterSlots())
        self._paces.append(SamplingPace(self._clocks.process()))
        self._last_ordinals.append(-1)
        self._journal.record(UnitSeen(unit_id, name, where))
        return unit_id

    def boundary(
        self, unit_id: int, ordinal: int, *, at_end: bool = False, may_collect: bool = True
    ) -> None:
        """Sample at a boundary, when the pace of this unit allows it."""
        this_thread = threading.get_ident()
        # In the midst of ours: its level would be none of the program's, and there is no waiting.
        if not self.is_on or self._inside == this_thread:
            return
        if not self._paces[unit_id].allows(ordinal, self._clocks.process, at_end=at_end):
            return
        if ordinal == self._last_ordinals[unit_id] and not at_end:
            return
        try:
            if self._waits_for_its_turn():
                self._inside = this_thread
                self._observe(unit_id, ordinal, at_end=at_end, may_collect=may_collect)
        finally:
            if self._inside == this_thread:
                self._inside = None
            with quietly(RuntimeError):  # it was not its turn
                self._lock.release()

    def _waits_for_its_turn(self) -> bool:
        """Wait for another thread; but not twice for one that does not get on."""
        is_its_turn = self._lock.acquire(timeout=PATIENCE_S if self._is_patient else 0)
        self._is_patient = is_its_turn
        return is_its_turn

    def _observe(self, unit_id: int, ordinal: int, *, at_end: bool, may_collect: bool) -> None:
        experimenting_s = self.escalation.spent_s + self._readings.looking_s
        began_s = self._clocks.own()
        try:
            now_s = self._clocks.wall()
            self._last_ordinals[unit_id] = ordinal
            place = Boundary(unit_id, ordinal, now_s - self._journal.began_s)
            if self._before_sample is not None:
                self._before_sample(*[*self._unit_ids][unit_id])
            if self.escalation.is_tracing(place, at_end=at_end, may_act=may_collect):
                return
            level = self._sample(unit_id, ordinal, now_s)
            if may_collect:
                around = self._round_around(unit_id, at_end=at_end)
                self.escalation.consider(
                    place, level, self._last_ordinals, at_end=at_end, around=around
                )
                if self._after_sample is not None and not at_end:
                    self._after_sample(*[*self._unit_ids][unit_id], ordinal)
        except Exception as error:  # noqa: BLE001 - ours must not become the program's
            let_through(error)
            self._journal.note(f"a sample failed: {type(error).__name__}: {error}")
        finally:
            # An experiment is not a sample's cost: it must not silence the unit that needed it.
            experimenting_s = self.escalation.spent_s + self._readings.looking_s - experimenting_s
            spent_s = max(0.0, self._clocks.own() - began_s - experimenting_s)
            self._paces[unit_id].spend(ordinal, spent_s, at_end=at_end)

    def _round_around(self, unit_id: int, *, at_end: bool) -> tuple[int, int] | None:
        """The round of the loop around this one that goes on: then this one will come again.

        Loops within it are over when it passes, also where their own ends were not sampled.
        """
        opened = self._open_loops
        if unit_id in opened:
            del opened[opened.index(unit_id) + 1 :]
        elif unit_id in self._loops:
            opened.append(unit_id)
        loops_around = [loop for loop in opened if loop != unit_id]
        if at_end and unit_id in opened:
            opened.remove(unit_id)
        return (loops_around[-1], self._last_ordinals[loops_around[-1]]) if loops_around else None

    def moment(self, name: str, then: Callable[[], Mapping[str, int]] | None = None) -> None:
        """Read all probes at the start or at the end of the run; this is no sample of a unit.

        What is read only `then` changes what was read before.
        """
        if not self.is_on or self.escalation.is_traced:
            return
        if not self._lock.acquire(timeout=_LONGEST_WAIT_S):
            return
        try:
            gauges, peak = self._readings.read(), peak_bytes()
            gauges |= {} if peak is None else {RSS_PEAK: peak}
            gauges |= then() if then is not None else {}
            elapsed_us = self._journal.elapsed_us(self._clocks.wall())
            self._journal.append(Passed(name, elapsed_us, self._values(gauges)), elapsed_us)
        except Exception as error:  # noqa: BLE001 - ours must not become the program's
            let_through(error)
            self._journal.note(f"the {name} was not measured: {type(error).__name__}: {error}")
        finally:
            self._lock.release()

    def heartbeat(self, every_s: float = 1.0) -> None:
        """Sample by time where nothing else has been seen for a while."""
        now_s = self._clocks.wall()
        if self.is_on and now_s - self._last_sample_s >= every_s:
            unit_id = self.unit_id(BY_TIME)
            if unit_id is not None:
                self.boundary(unit_id, int(now_s - self._journal.began_s), may_collect=False)

    def finish(self, last_words: Sequence[Record] = ()) -> None:
        """Write what is pending and stop; nothing is recorded after this."""
        if self.is_on:
            for record in last_words:
                self._journal.append(record)
            for slots in self._slots:
                pending = slots.flush()
                if pending is not None:
                    self._write(pending)
            self._finish_experiments()  # last of all: a signal may cut it short
            self._journal.append(self._overhead())
        self.abandon()

    def _finish_experiments(self) -> None:
        self._inside = threading.get_ident()  # what is done here is nobody's round
        try:
            self.escalation.finish()
        except Exception as error:  # noqa: BLE001 - ours must not become the program's
            let_through(error)
            self._journal.note(
                f"the end of the run could not be sampled: {type(error).__name__}: {error}"
            )

    def abandon(self) -> None:
        """Stop at once and write nothing, as in a forked child."""
        self._journal.close()
        self.escalation.abandon()

    def _overhead(self) -> Spent:
        made = self.escalation
        return Spent(
            samples=sum(pace.samples for pace in self._paces),
            sampling_us=round(
                (sum(pace.spent_s for pace in self._paces) + self._readings.looking_s) * 1e6
            ),
            collections=made.collections,
            collecting_us=round(made.brake.collecting_s * 1e6),
            censuses=made.censuses,
            census_us=round(made.brake.census_s * 1e6),
            process_us=round(self._clocks.process() * 1e6),
        )

    def _sample(self, unit_id: int, ordinal: int, now_s: float) -> Level:
        gauges = self._readings.read()
        self._last_sample_s = now_s
        sample = Sample(unit_id, ordinal, now_s - self._journal.began_s, gauges)
        level = level_of(gauges) or Level(gauges.get(RSS_ANON, 0), device_bytes(gauges))
        ready = self._slots[unit_id].offer(sample, level.everywhere_bytes)
        if ready is not None:
            self._write(ready)
        return level

    def _write(self, sample: Sample) -> None:
        values = self._values(sample.gauges)
        elapsed_us = round(sample.elapsed_s * 1e6)
        self._journal.append(
            Sampled(sample.unit_id, sample.ordinal, elapsed_us, values), elapsed_us
        )

    def _values(self, gauges: Mapping[str, int]) -> list[int | None]:
        """In the order of the columns, which are recorded again where one is missing."""
        if any(name not in self._columns for name in gauges):
            self._columns = [*dict.fromkeys([*self._columns, *gauges])]
            self._journal.append(Columns(self._columns))
        return [gauges.get(name) for name in self._columns]
