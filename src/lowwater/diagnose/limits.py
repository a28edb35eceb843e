"""Ends the loops of the program once they have made enough rounds."""

import os
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from lowwater.diagnose.rounds import Rounds
from lowwater.model.frameworks import FRAMEWORKS

if TYPE_CHECKING:
    from types import FrameType

# After so many rounds of the loop around it, the rounds of a loop inside are the same each time.
_WARM = 2
_CORES = len(os.sched_getaffinity(0))
# Times the seconds of a limit, by the wall: so long at most, where a loop mostly waits.
_LONGEST_WAIT = 4


class RoundLimit(NamedTuple):
    """An outer loop is left after `rounds` and `seconds`; one inside of it after `steps`.

    The seconds are those that the loop would take on a quiet machine: on a busy one the wall clock
    would leave too few rounds to judge.
    """

    rounds: int
    seconds: float
    steps: int
    leaves_loops: bool = True


class RoundLimits:
    """Those of all loops of the program, which lie inside each other."""

    def __init__(self, limit: RoundLimit, left: Callable[[str, int], None], rounds: Rounds) -> None:
        """`left` is told of the file and line of a loop that was left early."""
        self.limit = limit
        self.rounds = rounds
        self._left = left
        self.work = 0
        self._loops: dict[str, list[LimitedLoop]] = {}
        self._told: set[tuple[str, int]] = set()

    def worked(self) -> None:
        """The program has called a framework."""
        self.work += 1

    def leaves(self, filename: str, line: int) -> None:
        """A loop is left early; that is told once."""
        if (filename, line) not in self._told:
            self._told.add((filename, line))
            self._left(filename, line)

    def of_loop(self, filename: str, first_line: int, last_line: int) -> "LimitedLoop":
        """For one loop of the program."""
        loop = LimitedLoop(self, filename, first_line, last_line)
        self._loops.setdefault(filename, []).append(loop)
        return loop

    def is_in_a_warm_loop(self, frame: "FrameType | None", loop: "LimitedLoop | None") -> bool:
        """Whether a frame runs inside of a loop, other than `loop`, that goes on and on."""
        return self.rounds_around(frame, loop) > _WARM

    def rounds_around(self, frame: "FrameType | None", loop: "LimitedLoop | None") -> int:
        """The most rounds that a loop around a frame has made; 0 where there is none."""
        most = 0
        while frame is not None:
            around = self._around(frame.f_code.co_filename, frame.f_lineno)
            most = max([most, *(one.made for one in around if one is not loop)])
            frame = frame.f_back
        return most

    def _around(self, filename: str, line: int) -> "list[LimitedLoop]":
        """The loops that hold a line."""
        return [
            one for one in self._loops.get(filename, ()) if one.first_line < line <= one.last_line
        ]


class LimitedLoop:
    """Counts the rounds of one loop."""

    def __init__(self, limits: RoundLimits, filename: str, first_line: int, last_line: int) -> None:
        """No round was made yet."""
        self.first_line = first_line
        self.last_line = last_line
        self.made = 0
        self._limits = limits
        self._filename = filename
        self._is_inner = False
        self._is_outermost = True
        self._began = _Clock(0.0, 0.0)
        self._work_before = 0

    def begin(self) -> None:
        """The loop is entered, perhaps once more."""
        self.made = 0
        frame = sys._getframe(1)  # noqa: SLF001 - it enters the loop
        rounds_around = self._limits.rounds_around(frame, self)
        self._is_inner = rounds_around > _WARM
        self._is_outermost = not rounds_around
        self._began = _now()
        self._work_before = self._limits.work

    def is_over(self) -> bool:
        """Asked at the start of each round; a loop that has trained nothing is never over."""
        has_worked = self._limits.work > self._work_before
        # Where there is a framework, a loop that does not use it prepares something.
        counts = has_worked or not FRAMEWORKS & sys.modules.keys()
        self._limits.rounds.passed(is_outer=self._is_outermost and counts)
        if self._is_enough() and has_worked:
            self._limits.leaves(self._filename, self.first_line)
            return True
        self.made += 1
        return False

    def _is_enough(self) -> bool:
        limit = self._limits.limit
        if not limit.leaves_loops:
            return False
        if self._is_inner:
            # By number alone: the growth per round of the outer loop has to be comparable.
            return self.made >= limit.steps
        return self.made >= limit.rounds and self._has_lasted(limit.seconds)

    def _has_lasted(self, seconds: float) -> bool:
        now, began = _now(), self._began
        return (
            now.worked_s - began.worked_s >= seconds
            or now.wall_s - began.wall_s >= _LONGEST_WAIT * seconds
        )


class _Clock(NamedTuple):
    worked_s: float
    wall_s: float


def _now() -> _Clock:
    """What this thread has worked, or all cores together, whichever the program is bound by."""
    worked_s = max(time.thread_time(), time.process_time() / _CORES)
    return _Clock(worked_s, time.monotonic())
