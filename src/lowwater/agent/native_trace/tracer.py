"""Starts memray at a boundary and stops it at a later one, at most once in a run.

It is the last resort, because it makes the program several times slower: only with the extra
`[native]`, and only where the sites that it would name can be believed.
"""

import gc
import importlib.util
import os
import sys
import threading
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from lowwater.agent.native_trace.plan import Plan, growth_between, obstacle, other_profiler
from lowwater.agent.readings import Readings
from lowwater.model.interruption import let_through, quietly
from lowwater.model.user_code import is_installed
from lowwater.recording.records import Counted, NativeTraced, Record

# The trace lies beside the recording until the supervisor has read it.
SUFFIX = ".memray"
# A trace is over after the planned rounds, after this time, or when its file has this size, which
# takes ten seconds to read.
LONGEST_S = 60.0
MOST_FILE_BYTES = 64 << 20
# A trace of fewer rounds tells nothing of what every round takes.
FEWEST_TOLD = 2
# Importing memray takes 2.2 MB of malloc; what comes beyond this meanwhile is from other threads.
_MOST_OWN_BYTES = 4 << 20


_NO_PROFILE_FUNCTIONS: Final = (
    (sys.setprofile, None),
    (setattr, threading, "_profile_hook", None),
)


def checksum(filename: str) -> int:
    """A file as a recording knows it: by a number, as a path tells whose machine it was."""
    return zlib.crc32(filename.encode(errors="surrogateescape"))


class TracedProgram(NamedTuple):
    """What the tracer needs of the rest of the agent; `files` tells how reports call each file."""

    files: Callable[[], Mapping[str, str]]
    readings: Readings
    note: Callable[[str], None]
    write: Callable[[Record], None]


class Boundary(NamedTuple):
    """The boundary that the program has reached."""

    unit_id: int
    ordinal: int
    elapsed_s: float


@dataclass(slots=True)
class _Running:
    """A trace that is being made; `last` is the latest boundary of its unit."""

    tracker: Any
    plan: Plan
    began: Boundary
    last: Boundary
    in_use_bytes: int
    thread_id: int = field(default_factory=threading.get_ident)

    @property
    def rounds(self) -> int:
        return self.last.ordinal - self.began.ordinal


class NativeTracer:
    """Decides after each census, and acts at boundaries; whatever fails becomes a note."""

    def __init__(
        self, recording: str, program: TracedProgram, in_child: list[tuple[Any, ...]] | None = None
    ) -> None:
        """The trace is going to lie beside the recording.

        `in_child` is what a forked child does first, in which memray itself stops, and leaves its
        profile functions behind.
        """
        self._in_child = in_child if in_child is not None else []
        self._recording = recording
        self._path = recording + SUFFIX
        self._program = program
        self._first: tuple[Counted, int] | None = None
        self._plan: Plan | None = None
        self._running: _Running | None = None
        self._is_over = False
        self.spent_s = 0.0

    def census_taken(self, census: Counted, found: Sequence[Record], pool_bytes: int) -> None:
        """Take note of a census, and of how much TensorFlow's host pool had in use then."""
        if self._first is None:
            self._first = census, pool_bytes
            return
        growth = growth_between(self._first, (census, pool_bytes), found)
        self._plan = None
        if self._is_over or not growth.deserves_a_trace or not _is_installed():
            return
        why_not = obstacle(growth) or self._no_file()
        if why_not is None:
            self._plan = growth.plan(census.unit_id)
        else:
            self._program.note(f"memray was not started: {why_not}")

    def passes(self, place: Boundary, *, at_end: bool, may_act: bool) -> bool:
        """Start or stop where it is due; True while memray runs, and samples would be untrue."""
        began_s = time.perf_counter()
        try:
            if self._running is not None and may_act:
                self._go_on(self._running, place, at_end=at_end)
            # After the end of a loop other things happen than in it.
            elif self._plan is not None and may_act and not at_end:
                self._start_if_planned(self._plan, place)
        finally:
            self.spent_s += time.perf_counter() - began_s
        return self._running is not None

    @property
    def is_running(self) -> bool:
        """Whether memray watches at this moment."""
        return self._running is not None

    def finish(self) -> None:
        """The program ends: what was seen until now has to do."""
        if self._running is not None:
            self._stop(self._running)

    def abandon(self) -> None:
        """Forget it all, as in a forked child, in which memray itself has stopped already."""
        running, self._running, self._plan, self._is_over = self._running, None, None, True
        if running is not None:
            # Its profile function stays behind otherwise; `sys` does not show it.
            if sys.getprofile() is None:
                sys.setprofile(None)
            if _is_memrays(threading.getprofile()):
                threading.setprofile(None)

    def _go_on(self, running: _Running, place: Boundary, *, at_end: bool) -> None:
        if running.thread_id != threading.get_ident():
            return
        is_same = place.unit_id == running.plan.unit_id
        if is_same:
            running.last = place
        enough = FEWEST_TOLD if at_end else running.plan.rounds
        is_late = place.elapsed_s - running.began.elapsed_s >= LONGEST_S
        is_large = _size_of(self._path) >= MOST_FILE_BYTES
        if is_late or is_large or (is_same and running.rounds >= enough):
            self._stop(running)

    def _start_if_planned(self, plan: Plan, place: Boundary) -> None:
        if plan.unit_id != place.unit_id:
            return
        self._plan, self._is_over = None, True
        # Either may have come up since the census.
        why_not = other_profiler() or self._no_file()
        if why_not is not None:
            self._program.note(f"memray was not started: {why_not}")
            return
        try:
            self._start(plan, place)
        except Exception as error:  # noqa: BLE001 - ours must not become the program's
            let_through(error)
            self._program.note(f"memray could not be started: {type(error).__name__}: {error}")

    def _start(self, plan: Plan, place: Boundary) -> None:
        gc.collect()
        before = self._program.readings.read()
        _create(self._path)
        self._program.write(NativeTraced())  # from here on the file is the supervisor's to remove
        tracker = _tracker(self._path, with_native_stacks=plan.with_native_stacks)
        self._program.readings.book_as_own(before, _MOST_OWN_BYTES)
        in_use_bytes = self._program.readings.in_use_now()
        tracker.__enter__()
        self._in_child += _NO_PROFILE_FUNCTIONS
        self._running = _Running(tracker, plan, place, place, in_use_bytes)

    def _stop(self, running: _Running) -> None:
        self._running = None
        for action in _NO_PROFILE_FUNCTIONS:
            self._in_child.remove(action)
        try:
            gc.collect()  # what waits for the collector is held by nobody
            _exit(running.tracker)
        except Exception as error:  # noqa: BLE001 - ours must not become the program's
            let_through(error)
            self._program.note(f"memray could not be stopped: {type(error).__name__}: {error}")
            return
        rounds = running.rounds
        self._program.note(f"memray watched {rounds:,} round{'s' * (rounds != 1)}")
        if rounds >= FEWEST_TOLD:
            grown_bytes = max(0, self._program.readings.in_use_now() - running.in_use_bytes)
            files = {checksum(name): shown for name, shown in self._program.files().items()}
            self._program.write(NativeTraced(rounds, grown_bytes, files))

    def _no_file(self) -> str | None:
        """Beside a device nothing is made, and what is there already is not ours."""
        if os.path.isfile(self._recording) and not os.path.lexists(self._path):
            return None
        return f"{os.path.basename(self._path)} cannot be created next to the recording"


def _is_installed() -> bool:
    """Whether there is the real one: a `memray.py` of the program's is not to be imported by us."""
    found = importlib.util.find_spec("memray")
    return found is not None and found.origin is not None and is_installed(found.origin)


def _create(path: str) -> None:
    """Others must not read it: it holds the program's arguments."""
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))


def _tracker(path: str, *, with_native_stacks: bool) -> Any:  # noqa: ANN401 - memray may be absent
    import memray

    # Compressing would put another file in its place, which others may read.
    destination = memray.FileDestination(path, overwrite=True, compress_on_exit=False)
    return memray.Tracker(destination=destination, native_traces=with_native_stacks)


def _exit(tracker: Any) -> None:  # noqa: ANN401 - memray may be absent
    """Stop, and put back what the program has set meanwhile: memray would clear it."""
    own, own_of_threads = sys.getprofile(), threading.getprofile()
    tracker.__exit__(None, None, None)
    if own is not None:
        sys.setprofile(own)
    if own_of_threads is not None and not _is_memrays(own_of_threads):
        threading.setprofile(own_of_threads)


def _is_memrays(function: Any) -> bool:  # noqa: ANN401 - whatever a program has set
    return str(getattr(function, "__module__", "")).startswith("memray")


def _size_of(path: str) -> int:
    with quietly(OSError):
        return os.stat(path).st_size
    return 0
