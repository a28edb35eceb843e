"""When a loop has made enough rounds."""

import pytest

from lowwater.diagnose import limits as limits_module
from lowwater.diagnose.limits import RoundLimit, RoundLimits
from lowwater.diagnose.rounds import Rounds


@pytest.fixture(autouse=True)
def framework(monkeypatch):
    """As in a program that has imported one."""
    monkeypatch.setattr(limits_module, "FRAMEWORKS", frozenset({"sys"}))


def limits(*, rounds=3, seconds=0.0, steps=2):
    left = []
    made = RoundLimits(
        RoundLimit(rounds, seconds, steps), lambda file, line: left.append((file, line)), Rounds()
    )
    return made, left


def rounds_of(loop, *, most=20, each=lambda: None):
    """Enter a loop, and count the rounds until it is left."""
    loop.begin()
    for made in range(most):
        if loop.is_over():
            return made
        each()
    return most


def test_loop_that_trains_is_left_after_its_rounds():
    all_of_them, left = limits(rounds=3)

    assert rounds_of(all_of_them.of_loop("a.py", 1, 9), each=all_of_them.worked) == 3
    assert left == [("a.py", 1)]


def test_loop_that_prepares_data_runs_to_its_end():
    all_of_them, left = limits(rounds=3)
    loop = all_of_them.of_loop("a.py", 1, 9)
    all_of_them.worked()  # before the loop: that is none of it

    assert rounds_of(loop) == 20
    assert not left


def test_loop_of_short_rounds_goes_on_until_the_time_has_passed():
    all_of_them, _ = limits(rounds=3, seconds=1e9)

    assert rounds_of(all_of_them.of_loop("a.py", 1, 9), each=all_of_them.worked) == 20


class Clocks:
    """The clocks of a machine: each round takes its own seconds by the wall, and works in them."""

    def __init__(self):
        self.wall_s = self.thread_s = self.process_s = 0.0

    def monotonic(self):
        return self.wall_s

    def thread_time(self):
        return self.thread_s

    def process_time(self):
        return self.process_s


@pytest.fixture
def clocks(monkeypatch):
    made = Clocks()
    monkeypatch.setattr(limits_module, "time", made)
    monkeypatch.setattr(limits_module, "_CORES", 4)
    return made


@pytest.mark.parametrize(
    ("wall_s", "thread_s", "process_s", "rounds"),
    [
        pytest.param(1, 1, 1, 8, id="a quiet machine"),
        pytest.param(3, 1, 1, 8, id="one of three turns is its own"),
        pytest.param(1, 0, 4, 8, id="the framework works on all cores"),
        pytest.param(3, 0, 4, 8, id="the same on a busy machine"),
        pytest.param(8, 0, 0, 4, id="it waits"),
    ],
)
def test_loop_makes_as_many_rounds_on_a_busy_machine(clocks, wall_s, thread_s, process_s, rounds):
    all_of_them, _ = limits(rounds=3, seconds=8.0)

    def work():
        all_of_them.worked()
        clocks.wall_s += wall_s
        clocks.thread_s += thread_s
        clocks.process_s += process_s

    assert rounds_of(all_of_them.of_loop("a.py", 1, 9), each=work) == rounds


def test_every_entry_of_a_loop_counts_anew_and_is_told_once():
    all_of_them, left = limits(rounds=3)
    loop = all_of_them.of_loop("a.py", 1, 9)

    assert [rounds_of(loop, most=2, each=all_of_them.worked) for _ in range(5)] == [2] * 5
    assert not left
    assert [rounds_of(loop, each=all_of_them.worked) for _ in range(2)] == [3, 3]
    assert left == [("a.py", 1)]


def test_loop_called_from_a_warm_loop_is_left_by_number_whatever_the_time():
    # The lines of this very file stand for those of the program.
    all_of_them, _ = limits(rounds=1000, seconds=1e9, steps=2)
    here = test_loop_called_from_a_warm_loop_is_left_by_number_whatever_the_time.__code__
    outer = all_of_them.of_loop(__file__, here.co_firstlineno, here.co_firstlineno + 100)
    inner = all_of_them.of_loop("other.py", 1, 2)
    outer.begin()
    inside = []
    for _ in range(6):
        outer.is_over()
        inside.append(rounds_of(inner, each=all_of_them.worked))

    assert inside == [20, 20, 2, 2, 2, 2]
    # Those of the outer loop, but for the first, before which nothing was trained.
    assert all_of_them.rounds.made == 5


def test_rounds_of_a_loop_that_prepares_data_count_only_without_a_framework(monkeypatch):
    all_of_them, _ = limits()

    rounds_of(all_of_them.of_loop("a.py", 1, 9))

    assert all_of_them.rounds.made == 0

    monkeypatch.setattr(limits_module, "FRAMEWORKS", frozenset({"no such module"}))
    rounds_of(all_of_them.of_loop("a.py", 1, 9))

    assert all_of_them.rounds.made == 20
