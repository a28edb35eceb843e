"""The peak of a pool at any batch size: as forecast, and as far as real pools agree with that."""

from collections.abc import Sequence
from functools import cached_property

from lowwater.model.footprint import StepPeak
from lowwater.sizing.forecast import Forecast, forecast_of, played

# Share of the peak. What a forecast differs from a real pool by, and points for which that
# experience counts: eleven models, see docs/measurements.md.
_USUAL_SPREAD = 0.04
_EXPERIENCE = 3
# Share of the peak, where only that is known: at 4 times the largest batch, four of seven models
# missed their line by 0 to 2 %, two by 14 and 15 % and one by 22 %.
UNKNOWN_SPREAD = 0.06
# A batch that does not fit the forecast is made smaller by this share, so many times at most.
_SMALLER = 0.98
_MOST_SMALLER = 20


class PoolPeaks:
    """Forecast from the steps that were watched; where none was, nothing is said."""

    def __init__(self, points: Sequence[StepPeak]) -> None:
        """Nothing is played through a pool before it is asked for."""
        self._points = points

    def peak_bytes(self, batch_size: int) -> float | None:
        """What the pool gives out at the most."""
        if self._forecast is None:
            return None
        return self._forecast.peak_bytes(batch_size) * self._ratio

    def needed_bytes(self, batch_size: int) -> float | None:
        """What it is asked for at the most."""
        return None if self._forecast is None else self._forecast.needed_bytes(batch_size)

    @property
    def spread(self) -> float:
        """By how much real peaks differ from that, as a share of it."""
        if self._forecast is None:
            return UNKNOWN_SPREAD
        squares = sum((one - self._ratio) ** 2 for one in self._ratios)
        squares += _EXPERIENCE * _USUAL_SPREAD**2
        return float((squares / (len(self._ratios) - 1 + _EXPERIENCE)) ** 0.5)

    def that_fits(self, batch_size: int, limit_bytes: int) -> int:
        """This batch, or the next smaller one that gets all it asks for from such a pool."""
        tries = 0
        while self._forecast is not None and batch_size > 1 and tries < _MOST_SMALLER:
            if self._forecast.fits(batch_size, limit_bytes):
                break
            batch_size = int(_SMALLER * batch_size)
            tries += 1
        return max(1, batch_size)

    @cached_property
    def _forecast(self) -> Forecast | None:
        return forecast_of(self._points)

    @cached_property
    def _ratios(self) -> list[float]:
        return [one.peak_bytes / max(played(one.traces)) for one in self._points if one.traces]

    @cached_property
    def _ratio(self) -> float:
        return (sum(self._ratios) + _EXPERIENCE) / (len(self._ratios) + _EXPERIENCE)
