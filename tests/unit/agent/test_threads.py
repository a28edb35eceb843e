"""A busy thread beside the training loop takes nothing from it: no sample, and no look."""

import gc
import threading

import pytest

from lowwater.agent import observer as observing
from lowwater.agent.clocks import Clocks
from lowwater.agent.escalation import Means
from lowwater.agent.journal import Journal
from lowwater.agent.observer import Observer
from lowwater.agent.readings import Readings
from lowwater.model import Reading
from lowwater.recording.reader import load
from lowwater.recording.writer import Writer

MIB = 1 << 20


class Clock:
    now_s = 0.0

    def __call__(self):
        return self.now_s


class Heap:
    name = "glibc"

    def __init__(self):
        self.used, self.while_reading = 100 * MIB, lambda: None

    def read(self):
        self.while_reading()
        return Reading({"heap_used": self.used, "mmap_used": 0})


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def heap():
    return Heap()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.lw"


@pytest.fixture
def looked(clock):
    return []


@pytest.fixture
def watching(path, clock, heap, looked, monkeypatch):
    """A collection takes 0.1 s of processor time, a census half a second."""
    monkeypatch.setattr(gc, "collect", lambda *_: setattr(clock, "now_s", clock.now_s + 0.1))

    def inquire(in_use_bytes, risen_bytes):
        clock.now_s += 0.5
        looked.append(threading.current_thread() is threading.main_thread())
        return 400_000, ()

    journal = Journal(Writer(str(path)), Clocks(clock, clock, clock))
    return Observer(journal, Readings([heap], journal), Means(inquire))


def in_a_thread(work):
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


def rounds_of(path, unit_id):
    return [sample.ordinal for sample in load(path).samples if sample.unit_id == unit_id]


@pytest.fixture
def rise(watching, heap, clock):
    """Rounds of a unit, each with a MiB more."""

    def rising(unit_id, rounds, round_s=0.01):
        for ordinal in range(rounds):
            clock.now_s += round_s
            heap.used += MIB
            watching.boundary(unit_id, ordinal)
        watching.boundary(unit_id, rounds, at_end=True)

    return rising


def test_a_sample_waits_for_that_of_another_thread(watching, heap, path):
    worker, main = watching.unit_id("iteration", "load.py:3"), watching.unit_id("epoch")
    is_reading, may_go_on = threading.Event(), threading.Event()

    def slowly():
        heap.while_reading = may_go_on.set
        is_reading.set()
        may_go_on.wait(10)

    heap.while_reading = slowly
    thread = in_a_thread(lambda: watching.boundary(worker, 0))
    is_reading.wait(10)
    threading.Timer(0.1, may_go_on.set).start()
    watching.boundary(main, 1)
    thread.join(10)
    watching.finish()

    assert rounds_of(path, main) == [1]
    assert rounds_of(path, worker) == [0]


def test_a_thread_that_does_not_get_on_is_waited_for_once(watching, heap, path, monkeypatch):
    """Its finalizer may wait for a lock that this thread holds."""
    monkeypatch.setattr(observing, "PATIENCE_S", 0.05)
    worker, main = watching.unit_id("iteration", "load.py:3"), watching.unit_id("epoch")
    is_reading, may_go_on = threading.Event(), threading.Event()

    def stuck():
        is_reading.set()
        may_go_on.wait(10)

    heap.while_reading = stuck
    thread = in_a_thread(lambda: watching.boundary(worker, 0))
    is_reading.wait(10)
    watching.boundary(main, 1)
    monkeypatch.setattr(observing, "PATIENCE_S", 3600.0)
    watching.boundary(main, 2)
    heap.while_reading = lambda: None
    may_go_on.set()
    thread.join(10)
    watching.boundary(main, 3)
    watching.finish()

    assert rounds_of(path, main) == [3]


def test_a_boundary_within_a_sample_of_the_same_thread_is_passed_over(watching, heap, path):
    """As of a finalizer, or of a signal handler: waiting for itself would be for ever."""
    outer, inner = watching.unit_id("epoch"), watching.unit_id("predict")
    heap.while_reading = lambda: watching.boundary(inner, 7)
    watching.boundary(outer, 1)
    heap.while_reading = lambda: None
    watching.boundary(outer, 2)
    watching.boundary(inner, 8)
    watching.finish()

    assert rounds_of(path, outer) == [1, 2]
    assert rounds_of(path, inner) == [8]


def test_an_interrupt_while_sampling_lets_the_next_thread_in(watching, heap, path):
    unit = watching.unit_id("epoch")

    def interrupted():
        raise KeyboardInterrupt

    heap.while_reading = interrupted
    with pytest.raises(KeyboardInterrupt):
        watching.boundary(unit, 1)
    heap.while_reading = lambda: None
    in_a_thread(lambda: watching.boundary(unit, 2)).join(10)
    watching.boundary(unit, 3)
    watching.finish()

    assert rounds_of(path, unit) == [2, 3]


def test_a_worker_does_not_use_up_what_the_main_loop_needs(watching, rise, looked, path):
    worker, main = watching.unit_id("iteration", "load.py:3"), watching.unit_id("epoch")
    in_a_thread(lambda: watching.boundary(worker, 0)).join(10)
    watching.boundary(main, 0)
    in_a_thread(lambda: rise(worker, 200, 0.001)).join(10)
    assert looked == []
    rise(main, 20)
    watching.finish()

    assert looked == [True, True]
    assert [one.ordinal for one in load(path).collections if one.unit_id == main][-1] == 20


def test_a_main_thread_that_only_waits_leaves_it_all_to_the_others(watching, rise, looked):
    worker = watching.unit_id("epoch")
    in_a_thread(lambda: rise(worker, 20)).join(10)
    watching.finish()

    assert looked == [False, False]


def test_the_main_loop_has_its_collections_in_the_same_rounds_beside_a_worker(
    watching, heap, clock, path
):
    worker, main = watching.unit_id("iteration", "load.py:3"), watching.unit_id("epoch")
    for ordinal in range(40):
        clock.now_s += 1
        for step in range(20):
            heap.used += MIB // 20
            in_a_thread(lambda at=20 * ordinal + step: watching.boundary(worker, at)).join(10)
        watching.boundary(main, ordinal)
    watching.finish()

    collected = [one.ordinal for one in load(path).collections if one.unit_id == main]
    assert collected[:2] == [5, 9]
    assert len(collected) == 4
