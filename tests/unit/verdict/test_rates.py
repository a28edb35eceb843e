"""How often noise deceives: a hundred series each, always the same ones."""

from collections import Counter

import numpy as np
import pytest

from lowwater.model import Kind
from lowwater.testing import a_run
from lowwater.verdict import judge

SEEDS = range(100)


def kinds_of(runs):
    return Counter(judge(run.timeline())[0].kind for run in runs)


def uniform(run, seed):
    return run.noise(mib=5, seed=seed)


def gaussian(run, seed):
    return run.gaussian_noise(mib=2.5, seed=seed)


@pytest.mark.parametrize("noise", [uniform, gaussian])
def test_a_slow_leak_is_found_under_noise(noise):
    found = kinds_of(noise(a_run(60).grows(mib=0.2), seed) for seed in SEEDS)

    assert found[Kind.LEAK] >= 99


@pytest.mark.parametrize("noise", [uniform, gaussian])
def test_the_same_noise_without_the_leak_is_flat(noise):
    found = kinds_of(noise(a_run(60), seed) for seed in SEEDS)

    assert found[Kind.FLAT] >= 99


@pytest.mark.parametrize("rounds", [6, 8, 12, 16])
def test_noise_in_a_short_run_is_hardly_ever_a_leak_or_a_sawtooth(rounds):
    found = kinds_of(gaussian(a_run(rounds), seed) for seed in SEEDS)

    assert found[Kind.LEAK] <= 1
    assert found[Kind.SAWTOOTH] <= 3


def fading(run, seed):
    """Noise of which seven tenths are still there in the next round."""
    rng = np.random.default_rng(seed)
    levels = np.zeros(run.rounds + 1)
    for index in range(1, len(levels)):
        levels[index] = 0.7 * levels[index - 1] + rng.normal(0, 2)
    return run._add("heap_used", levels)


def test_noise_that_fades_slowly_is_rarely_a_leak():
    found = kinds_of(fading(a_run(20), seed) for seed in SEEDS)

    assert found[Kind.LEAK] <= 4


def test_a_leak_in_eight_noisy_rounds_is_not_called_a_cache():
    found = kinds_of(
        a_run(8).grows(mib=2).gaussian_noise(mib=1, seed=s).collects([4]) for s in SEEDS
    )

    assert found[Kind.LEAK] >= 50
    assert found[Kind.CACHE] <= 3


def test_a_leak_in_twelve_rounds_is_found_under_half_its_noise():
    found = kinds_of(a_run(12).grows(mib=4).gaussian_noise(mib=2, seed=s) for s in SEEDS)

    assert found[Kind.LEAK] >= 97


def test_a_leak_too_small_for_its_noise_is_rather_left_open_than_denied():
    found = kinds_of(a_run(12).grows(mib=0.25).gaussian_noise(mib=0.5, seed=s) for s in SEEDS)

    assert found[Kind.INCONCLUSIVE] + found[Kind.LEAK] >= 80


def test_a_noisy_step_or_a_noisy_cache_is_hardly_ever_a_leak():
    steps = kinds_of(a_run(16).jumps(mib=40, at=9).gaussian_noise(mib=2, seed=s) for s in SEEDS)
    caches = kinds_of(a_run(14).fills(mib=60, until=5).gaussian_noise(mib=2, seed=s) for s in SEEDS)

    assert steps[Kind.LEAK] <= 1
    assert caches[Kind.LEAK] <= 1
