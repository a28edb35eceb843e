"""Which growth matters, and how many rounds make it certain."""

import math

import numpy as np

from lowwater.model.policy import POLICY
from lowwater.verdict.asked import UNNOTED, Asked
from lowwater.verdict.series import Series
from lowwater.verdict.trend import Trend

# A number that nobody would wait for says no more than this one.
_MOST_TO_ASK_FOR = 200


def matters(growth: Trend, rounds: float, asked: Asked = UNNOTED) -> bool:
    """Whether growth at this rate can be seen, and would be missed by somebody."""
    total = growth.slope * rounds
    adds_up = asked.at_least(
        "Does each round add enough to count?", growth.slope, "least_rate_bytes"
    ) or asked.at_least("Is the total growth noticeable?", total, "noticeable_bytes")
    if not adds_up:
        return False
    least = "slow_total_bytes" if is_slow(growth, asked) else "resolution_bytes"
    return asked.at_least("Is the total growth enough to matter?", total, least)


def is_slow(growth: Trend, asked: Asked = UNNOTED) -> bool:
    """Whether it takes many rounds to hurt."""
    return asked.less_than("Is the growth per round slow?", growth.slope, "slow_rate_bytes")


def is_large(growth: Trend, asked: Asked = UNNOTED) -> bool:
    """Whether a few rounds of it are enough to tell."""
    text = "Can the growth per round be large?"
    return asked.at_least(text, growth.high, "large_rate_bytes")


def is_regular(series: Series) -> bool:
    """Whether every round added about the same."""
    rates = np.diff(series.y) / np.diff(series.x)
    usual = float(np.median(rates)) if len(rates) else 0.0
    low, high = usual / POLICY.alike, usual * POLICY.alike
    return usual > 0 and bool((rates >= low).all() and (rates <= high).all())


def rounds_to_certainty(series: Series, slope: float) -> int:
    """How many more rounds would lift this slope out of its noise."""
    residuals = series.y - slope * series.x
    noise = float(np.std(residuals)) if len(series) else 0.0
    if slope <= 0 or noise <= 0:
        return 0
    # The standard error of a slope over n rounds is noise * sqrt(12 / n³).
    needed = math.pow(12 * (POLICY.standard_errors * noise / slope) ** 2, 1 / 3)
    return min(max(math.ceil(needed - series.span), 0), _MOST_TO_ASK_FOR)
