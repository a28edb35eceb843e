"""How many steps are enough: until the highest peak has not risen for a while."""

import time
from statistics import median

from lowwater.model.footprint import StepKind, StepPeak
from lowwater.model.step_trace import StepTrace
from lowwater.sizing.backends._pool_watch import PoolWatch

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
# Every third step is not watched, so that its time counts.
_TIMED_EVERY = 3
# Traces that are kept of one batch size: TensorFlow runs a step in other orders at other times, and
# those that need most count.
_MOST_TRACES = 3


class StepRounds:
    """The peaks of the steps made so far."""

    def __init__(self, pool: PoolWatch) -> None:
        """None was made."""
        self._pool = pool
        self.most = _MOST
        self._peaks: list[int] = []
        self._traces: list[StepTrace] = []
        self._times: list[float] = []
        self._watched_times: list[float] = []
        self._highest_at = 0
        self._began = self._step_began = time.monotonic()

    def begin(self) -> None:
        """A step begins. Two of three are watched: that takes time, so their time does not count.

        The first is not watched: it is traced, and it makes what the later ones use.
        """
        self._pool.start(is_watched=len(self._peaks) % _TIMED_EVERY != 0)
        self._step_began = time.monotonic()

    def end(self) -> None:
        """The step has ended."""
        elapsed_s = time.monotonic() - self._step_began
        self.add(*self._pool.stop(), elapsed_s)

    def add(self, peak_bytes: int, trace: StepTrace | None, elapsed_s: float) -> None:
        """One more step."""
        if not self._peaks or peak_bytes > (1 + _RISE) * max(self._peaks):
            self._highest_at = len(self._peaks)
        if not self._peaks:  # the first step is traced, which may take longer than all others
            self._began = time.monotonic()
        self._peaks.append(peak_bytes)
        if trace is None:
            self._times.append(elapsed_s)
        else:
            self._traces.append(trace)
            self._watched_times.append(elapsed_s)

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
        """What they show; the time of the first step, which is traced, counts only if alone."""
        step_s = median(self._times[1:] or self._watched_times or self._times)
        most_first = sorted(self._traces, key=lambda trace: -trace.needed_bytes)
        traces = tuple(most_first[:_MOST_TRACES])
        return StepPeak(batch_size, tuple(self._peaks), step_s, kind, traces)
