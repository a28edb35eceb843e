"""A tick counts exactly, costs little, and travels harmlessly."""

import pickle
import sys
import threading
from itertools import count

import cloudpickle
import pytest

from lowwater.agent.instrumentation._tick import MOST_SKIPPED, Passes, tick_for
from lowwater.agent.instrumentation.loops import code_with_ticks


class Listener:
    """An observer that only remembers."""

    is_on = True

    def __init__(self):
        self.units, self.ordinals, self.ends = [], [], 0

    def unit_id(self, name, where=None):
        self.units.append((name, where))
        return 0

    def boundary(self, unit_id, ordinal, *, at_end=False):
        self.ordinals.append(ordinal)
        self.ends += at_end


@pytest.fixture
def listener():
    return Listener()


def passing(passes):
    """What stands at the start of each round of a loop: how many passes this one stands for."""
    tick = tick_for(passes)
    return lambda: passes.look() if tick() else None


def test_the_first_pass_begins_with_no_round_trip_completed(listener):
    passing(Passes(listener, "iteration", "train.py:3"))()

    assert listener.units == [("iteration", "train.py:3")]
    assert listener.ordinals == [0]


@pytest.mark.parametrize("passes_made", [4, 5, 100, 1000, 12_345])
def test_the_end_of_a_loop_knows_the_exact_count_though_most_passes_were_skipped(
    listener, passes_made
):
    passes = Passes(listener, "iteration")
    tick, end = passing(passes), passes.after_last
    for _ in range(passes_made):
        tick()
    end()

    assert listener.ordinals[-1] == passes_made
    assert listener.ordinals == sorted(listener.ordinals)
    assert listener.ends == 1


def test_a_hot_loop_is_looked_at_once_in_many_passes(listener):
    tick = passing(Passes(listener, "iteration"))
    for _ in range(100_000):
        tick()

    assert len(listener.ordinals) < 100_000 / MOST_SKIPPED * 1.2 + 100


def test_a_slow_loop_is_looked_at_in_every_pass(listener, monkeypatch):
    now = iter(range(1000))
    monkeypatch.setattr("lowwater.agent.instrumentation._tick.perf_counter", lambda: next(now))
    tick = passing(Passes(listener, "iteration"))
    for _ in range(50):
        tick()

    assert listener.ordinals == [*range(50)]


def test_a_tick_says_for_how_many_passes_it_stands(listener):
    tick = passing(Passes(listener, "iteration"))
    told = [tick() for _ in range(100_000)]
    counted = sum(stands_for or 0 for stands_for in told)

    assert told.count(None) > 98_000
    assert 100_000 <= counted <= 100_000 + 2 * MOST_SKIPPED


@pytest.mark.parametrize("lines", [2, 3, 4, 5])
def test_lines_that_pass_in_turn_are_all_looked_at(listener, lines, monkeypatch):
    now = count()
    monkeypatch.setattr(
        "lowwater.agent.instrumentation._tick.perf_counter", lambda: next(now) * 1e-6
    )
    tick, looks = passing(Passes(listener, "iteration")), [0] * lines
    for number in range(200_000):
        looks[number % lines] += tick() or 0

    assert min(looks) > 0.5 * max(looks)


def test_a_unit_of_milliseconds_is_looked_at_less_often_when_it_is_known(listener, monkeypatch):
    now = iter(number / 1000 for number in range(100_000))
    monkeypatch.setattr("lowwater.agent.instrumentation._tick.perf_counter", lambda: next(now))
    tick = passing(Passes(listener, "iteration"))
    for _ in range(1000):
        tick()
    known = len(listener.ordinals)

    assert listener.ordinals[:250] == [*range(250)]
    assert known < 400


def test_the_end_of_a_very_short_loop_is_part_of_something_larger(listener):
    passes = Passes(listener, "iteration")
    tick, end = passing(passes), passes.after_last
    for _ in range(10):
        for _ in range(3):
            tick()
        end()

    assert listener.ends == 0


def test_the_end_of_a_loop_that_runs_all_the_time_is_not_looked_at_all_the_time(listener):
    passes = Passes(listener, "iteration")
    tick, end = passing(passes), passes.after_last
    for _ in range(5000):
        for _ in range(4):
            tick()
        end()

    assert listener.ends < 1000


def test_a_look_that_is_cut_short_by_a_signal_does_not_end_the_tick(listener):
    passes = Passes(listener, "iteration")
    tick = passing(passes)
    listener.boundary = interrupted = lambda *_, **__: (_ for _ in ()).throw(TimeoutError)
    for _ in range(3):
        with pytest.raises(TimeoutError):
            tick()
    assert listener.boundary is interrupted
    del listener.boundary
    for _ in range(2000):
        tick()
    passes.after_last()

    assert listener.ordinals[-1] == 2003


def test_a_tick_runs_no_python(listener):
    tick = tick_for(Passes(listener, "iteration"))
    frames = []
    sys.setprofile(lambda frame, event, _: frames.append(event) if event == "call" else None)
    for _ in range(100):
        tick()
    sys.setprofile(None)

    assert frames == []


def test_a_refused_unit_is_not_asked_for_again(listener):
    asked = []
    listener.unit_id = lambda name, where: asked.append(name)
    passes = Passes(listener, "iteration")
    tick, end = passing(passes), passes.after_last
    for _ in range(100):
        tick()
    end()

    assert asked == ["iteration"]


def test_a_loop_that_was_never_entered_has_no_boundary(listener):
    Passes(listener, "iteration").after_last()

    assert listener.ordinals == []


def test_many_threads_may_pass_at_once(listener):
    tick = passing(Passes(listener, "iteration"))

    def work():
        for _ in range(20_000):
            tick()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert 60_000 <= listener.ordinals[-1] <= 80_000


def test_a_pickled_tick_becomes_a_harmless_call(listener):
    tick = pickle.loads(pickle.dumps(tick_for(Passes(listener, "iteration"))))

    assert tick is dict
    assert tick() == {}


def test_a_function_with_ticks_can_be_sent_to_another_process(listener):
    namespace = {"__name__": "__main__"}
    source = b"def work(n):\n    out = []\n    for i in range(n):\n        out.append(i)\n"
    source += b"    return out\n"
    exec(code_with_ticks(source, "job.py", lambda line: Passes(listener, "iteration")), namespace)

    sent = cloudpickle.dumps(namespace["work"])

    assert b"lowwater" not in sent
    assert cloudpickle.loads(sent)(3) == [0, 1, 2]
    assert listener.ordinals == []
