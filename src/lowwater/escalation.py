"""What is done to a program that rises: the collector is run, and all objects are looked at."""

import gc
import time
from collections.abc import Callable, Sequence

from lowwater.gauges import OWN_BLOCKS, POOL_IN_USE, PYTHON_BLOCKS, in_use_bytes, python_bytes
from lowwater.interruption import let_through
from lowwater.native_trace.tracer import NativeTracer, Place
from lowwater.recording.records import Collected, Counted, Noted, Record
from lowwater.suspicion import Suspicion

# Looks at all objects of the program; answers how many there were, and what to record. None where
# there is nothing to record: there was no room to look, say.
Inquiry = Callable[[int], tuple[int, Sequence[Record]] | None]


class Escalation:
    """Decides at each boundary whether an experiment is due, makes it, and books its cost."""

    def __init__(
        self,
        read: Callable[[], dict[str, int]],
        write: Callable[[Record], None],
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        """`read` reads the probes, `write` appends to the recording."""
        self._read_probes = read
        self._write = write
        self._clock = clock
        self._began_s = clock()
        self._suspicion = Suspicion()
        self._own_blocks = 0
        self.inquire: Inquiry | None = None
        self.native_tracer: NativeTracer | None = None
        self.collections = 0
        self.collecting_s = 0.0
        self.censuses = 0
        self.census_s = 0.0

    @property
    def spent_s(self) -> float:
        """What all experiments have cost."""
        return self.collecting_s + self._looking_s

    @property
    def _looking_s(self) -> float:
        tracing_s = self.native_tracer.spent_s if self.native_tracer is not None else 0.0
        return self.census_s + tracing_s

    def read(self) -> dict[str, int]:
        """The gauges now, with what is our own in them."""
        gauges = self._read_probes()
        if self._own_blocks:
            gauges[OWN_BLOCKS] = self._own_blocks
        return gauges

    @property
    def is_traced(self) -> bool:
        """Whether memray runs at this moment."""
        return self.native_tracer is not None and self.native_tracer.is_running

    def is_tracing(self, place: Place, *, at_end: bool, may_act: bool) -> bool:
        """Whether memray runs, so that a sample would be untrue."""
        tracer = self.native_tracer
        return tracer is not None and tracer.passes(place, at_end=at_end, may_act=may_act)

    def consider(
        self, place: Place, level_bytes: int, last_ordinals: Sequence[int], *, at_end: bool
    ) -> None:
        """Collect if the rise deserves it, and take a census if that did not explain it."""
        unit_id, ordinal, elapsed_s = place
        # The program stands still while we look: then nothing gets later.
        elapsed_s -= self._looking_s
        if not self._suspicion.wants_collection(unit_id, level_bytes, elapsed_s, at_end=at_end):
            return
        place = place._replace(elapsed_s=elapsed_s)
        gauges = self._collect(place, level_bytes)
        held = in_use_bytes(gauges)
        if held is None:  # only resident memory is known: a collection says nothing about it
            held = level_bytes
        if self.inquire is not None and self._suspicion.wants_census(
            unit_id, ordinal, held, elapsed_s, at_end=at_end
        ):
            self._take_census(place, gauges, held, last_ordinals)

    def finish(self) -> None:
        """The program ends: what is under way ends with it."""
        if self.native_tracer is not None:
            self.native_tracer.finish()

    def abandon(self) -> None:
        """Forget it all, as in a forked child."""
        if self.native_tracer is not None:
            self.native_tracer.abandon()

    def _collect(self, place: Place, before_bytes: int) -> dict[str, int]:
        """Run the collector; answers the gauges after it."""
        start_s = self._clock()
        gc.collect()
        gauges = self.read()
        took_s = self._clock() - start_s
        after_bytes = in_use_bytes(gauges)
        if after_bytes is None:
            after_bytes = before_bytes
        else:
            at_us = self._elapsed_us(start_s)
            self._write(Collected(place.unit_id, place.ordinal, at_us, before_bytes, after_bytes))
        self._suspicion.collected(place.unit_id, after_bytes, place.elapsed_s, took_s)
        self.collections += 1
        self.collecting_s += took_s
        return gauges

    def _take_census(
        self, place: Place, gauges: dict[str, int], held_bytes: int, last_ordinals: Sequence[int]
    ) -> None:
        """Look at all objects; if that fails once, it is not tried again."""
        start_s = self._clock()
        try:
            self._inquire(place, gauges, held_bytes, last_ordinals)
        except Exception as error:  # noqa: BLE001 - ours must not become the program's
            let_through(error)
            self.inquire = None
            why = f"the objects could not be looked at: {type(error).__name__}: {error}"
            self._write(Noted(self._elapsed_us(start_s), why))
        finally:
            # What it remembers is ours: counted as the program's, it would bend the next marks.
            # As before it, CPython must hold no freed blocks ready, for it counts them as used.
            gc.collect()
            now = self.read().get(PYTHON_BLOCKS, 0)
            self._own_blocks += max(0, now - gauges.get(PYTHON_BLOCKS, 0))
            self.census_s += self._clock() - start_s

    def _inquire(
        self, place: Place, gauges: dict[str, int], held_bytes: int, last_ordinals: Sequence[int]
    ) -> None:
        assert self.inquire is not None
        start_s = self._clock()
        tracer = self.native_tracer
        known = in_use_bytes(gauges)
        held_bytes -= tracer.own_bytes if tracer is not None else 0
        answer = self.inquire(held_bytes)
        self.censuses += 1
        self._suspicion.census_taken(place.unit_id, place.ordinal, held_bytes, place.elapsed_s)
        if answer is None:
            return
        objects, found = answer
        taken = Counted(
            place.unit_id,
            place.ordinal,
            self._elapsed_us(start_s),
            round((self._clock() - start_s) * 1e6),
            held_bytes,
            objects,
            tuple(last_ordinals),
            None if known is None else known - python_bytes(gauges),
        )
        for record in (taken, *found):
            self._write(record)
        if tracer is not None:
            tracer.census_taken(taken, found, gauges.get(POOL_IN_USE, 0))

    def _elapsed_us(self, now_s: float) -> int:
        return round((now_s - self._began_s) * 1e6)
