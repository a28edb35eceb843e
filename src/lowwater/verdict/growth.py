"""Which growth matters, and how many rounds make it certain."""

import math

import numpy as np

from lowwater.verdict.series import Series
from lowwater.verdict.trend import Trend

# Of 67 real programs every leak grew by 0.21 MB or more per round, no innocent by more than 0.16.
# An estimate may come out a little low; then its interval must still reach up to 0.18 MB.
MATERIAL_PER_ROUND = 128 * 1024
SMALLEST_LEAK_PER_ROUND = 180_000
# A small growth matters when it adds up: 4 KB per `predict` call over 5000 calls.
MATERIAL_TOTAL = 16 << 20
# Twelve rounds show a leak; six do if each adds a megabyte, or all add the same.
ENOUGH_ROUNDS = 12
FEWEST_ROUNDS = 6
MATERIAL_IN_FEW_ROUNDS = 1_000_000
_NEARLY_ALL = 0.8
# The lower end of a growth that stands clear of its noise, as a share of the estimate.
_CLEAR = 0.4
_WELL_KNOWN = 0.8
# A regular growth: every round within a factor of two of the usual one.
_REGULAR_FACTOR = 2.0
# This many standard errors above zero make a slope certain enough to be worth waiting for.
_CERTAIN = 4.0
_MOST_TO_ASK_FOR = 200


def is_worth_a_word(slope: float, rounds: float) -> bool:
    """Whether growth at this rate would matter, if it is one."""
    return slope >= SMALLEST_LEAK_PER_ROUND or slope * rounds >= MATERIAL_TOTAL


def is_material(growth: Trend, rounds: float) -> bool:
    """Whether the growth matters at its estimate, and is not nothing at its lower end."""
    per_round = (
        growth.slope >= MATERIAL_PER_ROUND
        and growth.low >= MATERIAL_PER_ROUND / 2
        and growth.high >= SMALLEST_LEAK_PER_ROUND
    )
    # Of a growth that is known well, half of it will do.
    is_well_known = growth.low >= _WELL_KNOWN * growth.slope
    total = MATERIAL_TOTAL / 2 if is_well_known else MATERIAL_TOTAL
    adds_up = growth.slope * rounds >= total and growth.low * rounds >= MATERIAL_TOTAL / 2
    return (per_round or adds_up) and growth.low >= _CLEAR * growth.slope


def regular(series: Series) -> bool:
    """Whether every round added about the same."""
    rates = np.diff(series.y) / np.diff(series.x)
    usual = float(np.median(rates)) if len(rates) else 0.0
    return usual > 0 and bool(
        (rates >= usual / _REGULAR_FACTOR).all() and (rates <= usual * _REGULAR_FACTOR).all()
    )


def is_enough(series: Series, growth: Trend, rounds: int) -> bool:
    """Whether the program made enough rounds to call its growth a leak."""
    if rounds >= ENOUGH_ROUNDS:
        return True
    nearly_all = len(series) > 1 and (np.diff(series.y) > 0).mean() >= _NEARLY_ALL
    is_large = growth.slope >= MATERIAL_IN_FEW_ROUNDS and nearly_all
    return rounds >= FEWEST_ROUNDS and (is_large or regular(series))


def rounds_to_certainty(series: Series, slope: float) -> int:
    """How many more rounds would lift this slope out of its noise."""
    residuals = series.y - slope * series.x
    noise = float(np.std(residuals)) if len(series) else 0.0
    if slope <= 0 or noise <= 0:
        return 0
    # The standard error of a slope over n rounds is noise * sqrt(12 / n³).
    needed = math.pow(12 * (_CERTAIN * noise / slope) ** 2, 1 / 3)
    return min(max(math.ceil(needed - series.span), 0), _MOST_TO_ASK_FOR)
