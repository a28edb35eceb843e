"""A change makes a difference where the growth of the two runs is really apart."""

import pytest

from lowwater.diagnose.compare import compare
from lowwater.model import Kind
from lowwater.model.experiment import Effect, Measured

MIB = 1 << 20


def a_run(growth_mib, spread_mib=0.05, kind=Kind.LEAK, **others):
    growth = round(growth_mib * MIB)
    around = (growth - round(spread_mib * MIB), growth + round(spread_mib * MIB))
    return Measured(kind, "epoch", None, 12, growth, around, **others)


BASE = a_run(4.0)


def test_growth_that_is_gone_has_stopped():
    difference = compare(BASE, a_run(0.01, kind=Kind.FLAT))

    assert (difference.effect, difference.share) == (Effect.STOPS, 1.0)


def test_smaller_growth_is_less_by_its_share():
    difference = compare(BASE, a_run(1.0))

    assert difference.effect is Effect.LESS
    assert difference.share == pytest.approx(0.75)


def test_growth_within_the_noise_of_both_runs_is_the_same():
    assert compare(BASE, a_run(3.9)).effect is Effect.SAME


def test_vague_growth_proves_nothing():
    difference = compare(BASE, a_run(3.0, spread_mib=2.0))

    assert (difference.effect, difference.because) == (Effect.UNCLEAR, "too noisy to judge")


def test_run_that_is_judged_flat_has_stopped_however_vague_its_slope():
    assert compare(BASE, a_run(3.0, spread_mib=4.0, kind=Kind.FLAT)).effect is Effect.STOPS


def test_garbage_that_hides_whether_it_grows_proves_nothing():
    assert compare(BASE, a_run(4.2, spread_mib=4.0, kind=Kind.SAWTOOTH)).effect is Effect.UNCLEAR
    assert compare(BASE, a_run(0.1, spread_mib=4.0, kind=Kind.SAWTOOTH)).effect is Effect.STOPS


def test_larger_growth_is_more():
    assert compare(BASE, a_run(6.0)).effect is Effect.MORE


def test_flat_run_that_still_grows_by_half_has_not_stopped():
    assert compare(BASE, a_run(2.0, kind=Kind.FLAT)).effect is Effect.LESS


def test_run_that_failed_says_why():
    difference = compare(BASE, Measured(problem="it ended with exit code 1"))

    assert (difference.effect, difference.because) == (Effect.FAILED, "it ended with exit code 1")


def test_run_without_rounds_proves_nothing():
    assert compare(BASE, Measured()).effect is Effect.UNCLEAR


def test_run_of_too_few_rounds_proves_nothing():
    unsure = a_run(3.9, spread_mib=3.0, kind=Kind.INCONCLUSIVE)

    assert compare(BASE, unsure).effect is Effect.UNCLEAR


def test_part_that_hides_in_the_noise_is_not_acquitted():
    noisy = a_run(17.0, spread_mib=1.2)

    assert compare(noisy, a_run(14.6, spread_mib=1.3)).because == "too noisy to judge"
    assert compare(noisy, a_run(16.5, spread_mib=1.2)).effect is Effect.SAME
