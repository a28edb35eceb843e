"""How many steps are enough: until the highest peak has not risen for a while."""

import time
from statistics import median

from lowwater.model.footprint import StepKind, StepPeak

# Steps. All numbers here are guesses about when a next step most likely shows no higher peak.
_FEWEST = 6
_MOST = 40
# Steps in a row without a higher peak that end it.
_QUIET = 6
# Share of the peak. A step that is higher by less is no rise.
_RISE = 0.002
# Seconds. Large steps are slow: after so long, fewer have to do.
_LONGEST_S = 6.0
_FEWEST_SLOW = 3


class StepRounds:
    """The peaks of the steps made so far."""

    def __init__(self) -> None:
        """None was made."""
        self.most = _MOST
        self._peaks: list[int] = []
        self._times: list[float] = []
        self._highest_at = 0
        self._began = time.monotonic()

    def add(self, peak_bytes: int, elapsed_s: float) -> None:
        """One more step."""
        if not self._peaks or peak_bytes > (1 + _RISE) * max(self._peaks):
            self._highest_at = len(self._peaks)
        self._peaks.append(peak_bytes)
        self._times.append(elapsed_s)

    @property
    def are_enough(self) -> bool:
        """Whether another step would most likely show no higher peak."""
        made = len(self._peaks)
        if made >= _MOST:
            return True
        if time.monotonic() - self._began > _LONGEST_S:
            return made >= _FEWEST_SLOW
        return made >= _FEWEST and made - self._highest_at > _QUIET

    def told(self, batch_size: int, kind: StepKind) -> StepPeak:
        """What they show; the first step is also tracing, so its time says nothing."""
        return StepPeak(
            batch_size, tuple(self._peaks), median(self._times[1:] or self._times), kind
        )
