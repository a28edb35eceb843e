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
