"""The guard ends what rises into a limit, in time, and leaves everything else alone."""

import random

import pytest

from lowwater.agent.guard.decision import Decision, Standing
from lowwater.model.guard import Room

MIB = 1 << 20
LIMIT = 1024
SAVING = 10


def ended_at(  # noqa: PLR0913 - a small language
    levels, *, limit=LIMIT, above=0, saving=SAVING, collect=None, step=1
):
    """The round in which training is ended, or None; all in MiB.

    `above` is what each round takes for itself on top. `collect` says what level a collection
    would leave in a round.
    """
    decision, peak, freed = Decision(), 0.0, 0.0
    for rounds, told in enumerate(levels, start=1):
        level = told - freed
        own = above(rounds) if callable(above) else above
        peak = max(peak, level + own)
        if peak > limit:
            return "out of memory"
        standing = Standing(round(level * MIB), round(level * MIB), round(peak * MIB))
        rise = decision.passes("epoch", "host", rounds * step, standing)
        room = Room("control group", limit * MIB, round((limit - level) * MIB))
        if rise is None or not rise.must_end(room, saving * MIB):
            continue
        after = level if collect is None else collect(rounds)
        room = room._replace(left_bytes=round((limit - after) * MIB))
        if rise.is_settled_by_collection(room, saving * MIB):
            freed += level - after
            decision.collected("host")
            continue
        return rounds
    return None


def a_leak(per_round, *, rounds=2000, start=400, noise=0.0, seed=1):
    chance = random.Random(seed)
    return [start + per_round * number + chance.uniform(0, noise) for number in range(rounds)]


def is_in_time(ended, per_round, *, start=400, limit=LIMIT, early=0.85):
    """Before the limit, and not long before it."""
    return isinstance(ended, int) and early * limit <= start + per_round * (ended - 1) < limit


@pytest.mark.parametrize("per_round", [0.5, 2, 20, 50])
def test_leak_is_ended_shortly_before_the_limit(per_round):
    assert is_in_time(ended_at(a_leak(per_round)), per_round)


@pytest.mark.parametrize("noise", [5, 20, 40])
@pytest.mark.parametrize("seed", range(10))
def test_noisy_leak_is_ended_shortly_before_the_limit(noise, seed):
    ended = ended_at(a_leak(5, noise=noise, seed=seed))

    assert is_in_time(ended, 5, early=0.7)


def test_leak_of_a_hundred_mib_per_epoch_is_seen_in_the_few_epochs_that_there_are():
    assert ended_at(a_leak(100)) == 6


def test_what_a_step_takes_for_itself_is_left_free():
    ended = ended_at(a_leak(20), above=150)

    assert isinstance(ended, int)
    assert 400 + 20 * ended + 150 < LIMIT


def test_what_the_saving_takes_is_left_free():
    ended = ended_at(a_leak(20), saving=200)

    assert isinstance(ended, int)
    assert 400 + 20 * (ended - 1) + 200 < LIMIT


def test_steps_that_take_more_each_time_are_ended_though_they_leave_nothing_behind():
    ended = ended_at([400.0] * 200, above=lambda rounds: 20 * rounds)

    assert isinstance(ended, int)
    assert 400 + 20 * (ended + 1) < LIMIT


def test_leak_in_a_loop_of_fits_shows_in_the_epochs_of_all_of_them():
    """Each `fit` of four epochs leaves 40 MiB behind."""
    ended = ended_at([200 + 40 * (number // 4) for number in range(400)])

    assert isinstance(ended, int)


def test_looks_that_are_some_rounds_apart_see_the_same():
    ended = ended_at([400 + 8 * number for number in range(400)], step=16)

    assert is_in_time(ended, 8)


@pytest.mark.parametrize("height", [0.9, 0.95, 0.99])
@pytest.mark.parametrize("noise", [0, 0.1, 2, 8])
def test_jump_to_a_height_where_it_stays_is_left_alone(height, noise):
    top = height * LIMIT - noise
    chance = random.Random(7)
    levels = [400.0] * 10 + [top + chance.uniform(0, noise) for _ in range(1000)]

    assert ended_at(levels) is None


@pytest.mark.parametrize("noise", [0.1, 2, 30])
@pytest.mark.parametrize("seed", range(5))
def test_plateau_at_nine_tenths_is_left_alone_whatever_its_noise(noise, seed):
    assert ended_at(a_leak(0, start=LIMIT * 0.9 - noise, noise=noise, seed=seed)) is None


@pytest.mark.parametrize("saving", [10, 300])
def test_plateau_is_left_alone_even_where_there_is_no_room_to_save(saving):
    levels = a_leak(0, start=LIMIT * 0.9, noise=4, rounds=1000)

    assert ended_at(levels, saving=saving, above=40) is None


def test_what_building_the_model_took_does_not_come_again():
    """The first round takes 500 MiB for itself, the others 20."""
    levels = a_leak(0, start=900, noise=2, rounds=1000)

    assert ended_at(levels, above=lambda rounds: 100 if rounds == 1 else 20) is None


@pytest.mark.parametrize("tooth", [4, 12, 60])
def test_sawtooth_of_the_program_s_own_is_left_alone(tooth):
    """A list of the batches of an epoch, emptied at its end."""
    step = 400 / tooth
    levels = [500 + step * (number % tooth) for number in range(2000)]

    assert ended_at(levels) is None


@pytest.mark.parametrize("tooth", [8, 30, 100])
def test_sawtooth_that_would_reach_the_limit_is_collected_and_left_alone(tooth):
    assert ended_at(a_leak(10, rounds=1000), collect=lambda _: 400.0) is None


def test_leak_below_a_sawtooth_is_ended():
    """Of each 10 MiB, one stays when the rest is collected."""
    ended = ended_at(a_leak(10), collect=lambda rounds: 400.0 + rounds)

    assert isinstance(ended, int)
    assert ended > 200


@pytest.mark.parametrize("full", [0.5, 0.8, 0.9])
@pytest.mark.parametrize("rounds", [12, 30, 200])
def test_cache_that_fills_and_stops_is_left_alone(full, rounds):
    per_round = (full * LIMIT - 300) / rounds
    levels = [300 + per_round * min(number, rounds) for number in range(1000)]

    assert ended_at(levels) is None


@pytest.mark.parametrize("full", [0.7, 0.9, 0.95])
def test_cache_that_fills_more_and_more_slowly_is_left_alone(full):
    levels = [300 + (full * LIMIT - 300) * (1 - 0.97**number) for number in range(1000)]

    assert ended_at(levels) is None


def test_slow_leak_far_from_the_limit_is_left_alone():
    assert ended_at(a_leak(0.03, rounds=2000, start=100)) is None


def test_random_heights_below_the_limit_are_left_alone():
    """Batches of all lengths: what is in use after each is anybody's guess."""
    for seed in range(8):
        chance = random.Random(seed)
        levels = [500 + chance.uniform(0, 500) for _ in range(1000)]

        assert ended_at(levels) is None


def test_records_of_the_longest_batch_so_far_are_left_alone():
    for seed in range(8):
        lengths = [random.Random(seed * 10_000 + number).uniform(0, 550) for number in range(1000)]

        assert ended_at([400.0] * 1000, above=lambda rounds, of=lengths: of[rounds - 1]) is None
