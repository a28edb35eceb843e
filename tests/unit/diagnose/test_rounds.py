"""What is done in every round."""

import pytest

from lowwater.diagnose import rounds as rounds_module
from lowwater.diagnose.rounds import Rounds


class Clock:
    now = 0.0

    def monotonic(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(rounds_module, "time", clock)
    return clock


def test_outer_rounds_are_counted_and_the_others_are_not():
    rounds = Rounds()

    for _ in range(3):
        rounds.passed()
        rounds.passed(is_outer=False)

    assert rounds.made == 3


def test_act_is_done_in_every_round_that_takes_long_enough(clock):
    rounds, done = Rounds(), []

    def act():
        done.append(clock.now)
        clock.now += 1.0

    rounds.add(act)
    for _ in range(5):
        rounds.passed()
        clock.now += 2.0

    assert len(done) == 5


def test_act_takes_no_more_than_half_of_the_time_of_a_hot_loop(clock):
    rounds, done = Rounds(), []

    def act():
        done.append(clock.now)
        clock.now += 1.0

    rounds.add(act)
    for _ in range(1000):
        rounds.passed(is_outer=False)
        clock.now += 0.01

    # Ten seconds of the loop, and as many of the act.
    assert 9 <= len(done) <= 11
