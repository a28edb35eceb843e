"""The tracer starts memray at most once, stops it at a boundary, and notes what fails."""

import os
import sys
import threading

import pytest

from lowwater.agent.native_trace import tracer as module
from lowwater.agent.native_trace.tracer import Boundary, NativeTracer, TracedProgram, checksum
from lowwater.agent.readings import Readings
from lowwater.model import Reading
from lowwater.model.gauges import HEAP_USED
from lowwater.recording.records import Counted, NativeTraced

MIB = 1 << 20
LOOP, OTHER = 0, 1


class Tracker:
    """Stands for memray's: counts, and fails when told to."""

    def __init__(self, *, fails_to=""):
        self.fails_to, self.entered, self.exited = fails_to, 0, 0

    def __enter__(self):
        self.entered += 1
        if self.fails_to == "start":
            raise RuntimeError("another Tracker is active")

    def __exit__(self, *_):
        self.exited += 1
        if self.fails_to == "stop":
            raise OSError("disk full")


class World:
    """A program whose memory in use grows by one MiB with every boundary of its loop."""

    def __init__(self, folder, monkeypatch, tracker=None):
        self.tracker, self.made, self.notes, self.records = tracker or Tracker(), [], [], []
        self.in_use, self.ordinal, self.elapsed_s = 100 * MIB, 0, 0.0
        self.recording = folder / "run.lw"
        self.recording.touch()
        self.trace = folder / "run.lw.memray"
        monkeypatch.setattr(module, "_tracker", self._make)
        monkeypatch.setattr(module, "_is_installed", lambda: True)
        self.readings = Readings([self], journal=None)
        program = TracedProgram(
            lambda: {"/home/me/train.py": "train.py"},
            self.readings,
            self.notes.append,
            self.records.append,
        )
        self.tracing = NativeTracer(str(self.recording), program)

    name = "heap"

    def read(self):
        """All of its memory is malloc's."""
        return Reading({HEAP_USED: self.in_use})

    def _make(self, path, *, with_native_stacks):
        self.made.append((path, with_native_stacks))
        return self.tracker

    def census(self):
        taken = Counted(LOOP, self.ordinal, round(self.elapsed_s * 1e6), 0, self.in_use, 9, ())
        self.tracing.census_taken(taken, [], 0)

    def round(self, *, at_end=False, unit_id=LOOP, seconds=1.0, may_act=True):
        self.elapsed_s += seconds
        if unit_id == LOOP:
            self.ordinal += 1
            self.in_use += MIB
        place = Boundary(unit_id, self.ordinal, self.elapsed_s)
        return self.tracing.passes(place, at_end=at_end, may_act=may_act)

    def suspect(self):
        """Two censuses, four rounds apart."""
        self.census()
        for _ in range(4):
            self.round()
        self.census()


@pytest.fixture
def world(tmp_path, monkeypatch):
    return World(tmp_path, monkeypatch)


def test_one_census_starts_nothing(world):
    world.census()

    assert not any(world.round() for _ in range(5))
    assert world.made == []


def test_three_rounds_are_watched_and_told(world):
    world.suspect()
    running = [world.round() for _ in range(6)]

    assert running == [True, True, True, False, False, False]
    assert (world.tracker.entered, world.tracker.exited) == (1, 1)
    assert world.notes == ["memray watched 3 rounds"]
    files = {checksum("/home/me/train.py"): "train.py"}
    assert world.records == [NativeTraced(), NativeTraced(3, 3 * MIB, files)]


def test_it_is_done_once_in_a_run(world):
    world.suspect()
    for _ in range(6):
        world.round()
    world.census()
    for _ in range(6):
        world.round()

    assert world.tracker.entered == 1


def test_the_file_is_for_its_owner_only(world):
    world.suspect()
    world.round()

    assert world.made == [(str(world.trace), True)]
    assert world.trace.stat().st_mode & 0o777 == 0o600


def test_nothing_is_started_where_memray_is_not_installed(world, monkeypatch):
    monkeypatch.setattr(module, "_is_installed", lambda: False)
    world.suspect()
    world.round()

    assert (world.made, world.notes) == ([], [])


def test_it_is_not_started_at_the_end_of_a_loop_nor_in_another(world):
    world.suspect()

    assert not world.round(at_end=True)
    assert not world.round(unit_id=OTHER)
    assert not world.round(may_act=False)
    assert world.round()


def test_the_end_of_the_loop_ends_it_when_there_is_something_to_tell(world):
    world.suspect()
    world.round()

    assert world.round(at_end=True)
    assert not world.round(at_end=True)
    assert world.notes == ["memray watched 2 rounds"]


def test_after_a_minute_any_boundary_ends_it(world):
    world.suspect()
    world.round()

    assert world.round(unit_id=OTHER, seconds=59)
    assert not world.round(unit_id=OTHER, seconds=1)
    assert world.notes == ["memray watched 0 rounds"]
    assert world.records == [NativeTraced()]


def test_a_large_file_ends_it(world, monkeypatch):
    monkeypatch.setattr(module, "MOST_FILE_BYTES", 10)
    world.suspect()
    world.round()
    world.trace.write_bytes(b"x" * 10)

    assert not world.round()


def test_while_it_runs_a_heartbeat_and_another_thread_only_learn_that(world):
    world.suspect()
    world.round()
    answers = [world.round(may_act=False, seconds=100)]
    thread = threading.Thread(target=lambda: answers.append(world.round(seconds=100)))
    thread.start()
    thread.join()

    assert answers == [True, True]
    assert world.tracker.exited == 0


def test_the_end_of_the_program_ends_it(world):
    world.suspect()
    for _ in range(3):
        world.round()
    world.tracing.finish()
    world.tracing.finish()

    assert world.tracker.exited == 1
    assert world.records[-1].rounds == 2


def test_a_forked_child_forgets_it(world):
    world.suspect()
    world.round()
    world.tracing.abandon()
    world.tracing.finish()

    assert not world.round()
    assert world.tracker.exited == 0


@pytest.mark.parametrize("in_the_way", ["a device", "a file of that name"])
def test_nothing_is_written_where_there_is_no_room_of_our_own(tmp_path, monkeypatch, in_the_way):
    world = World(tmp_path, monkeypatch)
    if in_the_way == "a device":
        world.recording.unlink()
        os.mkfifo(world.recording)
    else:
        world.trace.write_text("mine")
    world.suspect()

    assert not world.round()
    assert world.notes == [
        "memray was not started: run.lw.memray cannot be created next to the recording"
    ]


def test_a_profile_function_that_came_after_the_census_is_left_alone(world):
    world.suspect()
    before = sys.getprofile()
    sys.setprofile(lambda *_: None)
    try:
        is_running = world.round()
    finally:
        sys.setprofile(before)

    assert not is_running
    assert world.notes == ["memray was not started: the program uses its own profile function"]


def test_a_profile_function_that_came_while_it_ran_is_put_back(world):
    def mine(*_):
        pass

    world.tracker.__class__ = type(
        "Clearing", (Tracker,), {"__exit__": lambda *_: sys.setprofile(None)}
    )
    world.suspect()
    world.round()
    before = sys.getprofile()
    sys.setprofile(mine)
    try:
        world.tracing.finish()
        after = sys.getprofile()
    finally:
        sys.setprofile(before)

    assert after is mine


@pytest.mark.parametrize(
    ("fails_to", "note"),
    [
        ("start", "memray could not be started: RuntimeError: another Tracker is active"),
        ("stop", "memray could not be stopped: OSError: disk full"),
    ],
)
def test_a_failure_of_memray_is_a_note(tmp_path, monkeypatch, fails_to, note):
    world = World(tmp_path, monkeypatch, Tracker(fails_to=fails_to))
    world.suspect()
    for _ in range(6):
        world.round()

    assert world.notes == [note]
    assert world.records == [NativeTraced()]
    assert not world.round()


def test_what_importing_memray_takes_is_no_step_in_the_programs_memory(world, monkeypatch):
    def make(path, *, with_native_stacks):
        world.in_use += 3 * MIB
        return world.tracker

    monkeypatch.setattr(module, "_tracker", make)
    world.suspect()
    before = world.readings.in_use_now()
    for _ in range(4):
        world.round()

    assert world.tracker.entered == 1
    assert world.readings.in_use_now() - before == 4 * MIB
    assert world.records[-1].grown_bytes == 3 * MIB
