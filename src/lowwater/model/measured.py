"""What is measured: readings, samples at boundaries, and how the run went and ended."""

import signal
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final


@dataclass(frozen=True, slots=True)
class Reading:
    """What one probe saw at one moment: gauge name -> value (bytes or a count)."""

    gauges: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class NotMeasured:
    """A probe's answer when it has none. Missing is never zero."""

    why: str


@dataclass(frozen=True, slots=True)
class Unit:
    """One kind of round trip: an epoch, a `predict` call, an iteration of the loop at `where`."""

    id: int
    name: str
    where: str | None = None

    def __str__(self) -> str:
        return f"{self.name} at {self.where}" if self.where else self.name


@dataclass(frozen=True, slots=True)
class Sample:
    """All gauges at one boundary of one unit.

    `ordinal` is the number of round trips of that unit that were completed by then.
    When a long run is thinned, a sample stands for several boundaries: the lowest of them.
    """

    unit_id: int
    ordinal: int
    elapsed_s: float
    gauges: Mapping[str, int]


# The moments of every run. Threads and exit handlers may go on after the last statement.
START: Final = "start"
LAST_STATEMENT: Final = "last statement"
EXIT: Final = "exit"


@dataclass(frozen=True, slots=True)
class Moment:
    """All gauges at one moment of the run that is no boundary: its start, its end.

    No unit has it, so it is booked and never judged.
    """

    name: str
    elapsed_s: float
    gauges: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Collection:
    """One full run of the garbage collector at a boundary, and what it gave back."""

    unit_id: int
    ordinal: int
    elapsed_s: float
    before_bytes: int
    after_bytes: int

    @property
    def freed_bytes(self) -> int:
        """Bytes in use that were waiting for the collector."""
        return self.before_bytes - self.after_bytes


class Topic(StrEnum):
    """What a note is about: the program, or the experiment that was made with it."""

    PROGRAM = "program"
    NOT_MADE = "not made"
    MADE_IN_PART = "made in part"
    ENDED_BY_US = "ended by us"


_HEADS = {
    Topic.NOT_MADE: "experiment not made: ",
    Topic.MADE_IN_PART: "experiment made in part: ",
    Topic.ENDED_BY_US: "the run was ended ",
}


@dataclass(frozen=True, slots=True)
class Note:
    """Something the reader should know: a probe that failed, a record that was lost."""

    elapsed_s: float
    text: str
    topic: Topic = Topic.PROGRAM

    def __str__(self) -> str:
        return f"{_HEADS.get(self.topic, '')}{self.text}"


class MendState(StrEnum):
    """What became of a repair."""

    APPLIED = "applied"
    WAITING = "waiting"
    REFUSED = "refused"
    UNDONE = "undone"


@dataclass(frozen=True, slots=True)
class Mending:
    """One repair of a library: which leak it is for, what became of it, and why."""

    code: str
    name: str
    library: str
    state: MendState
    because: str

    def __str__(self) -> str:
        heads = {
            MendState.APPLIED: "Mended",
            MendState.WAITING: "Waiting",
            MendState.REFUSED: "Not mended",
            MendState.UNDONE: "Undone",
        }
        return f"{heads[self.state]}: {self.code} {self.name.replace('-', ' ')} ({self.because})"


@dataclass(frozen=True, slots=True)
class OutsideSample:
    """What the supervisor saw of the whole process from outside."""

    elapsed_s: float
    anon_bytes: int


@dataclass(frozen=True, slots=True)
class Overhead:
    """What watching has cost, in seconds of processor time; `process_s` is that of the program.

    0 where it is not known: an earlier release made the recording.
    """

    samples: int
    sampling_s: float
    collections: int
    collecting_s: float
    censuses: int = 0
    census_s: float = 0.0
    process_s: float = 0.0


# Somebody wanted the program to end: it is not broken.
_ASKED_TO_END = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(frozen=True, slots=True)
class Ending:
    """How the program ended: its exit code, or the signal that killed it.

    `error` is the exception that nobody caught, as in `MemoryError: Unable to allocate 8 GiB`.
    """

    elapsed_s: float
    exit_code: int | None
    signal: int | None = None
    out_of_memory: bool = False
    peak_rss_bytes: int | None = None
    error: str | None = None

    @property
    def is_broken_off(self) -> bool:
        """Whether the program failed, so that it would fail again, however long it is watched."""
        if self.out_of_memory or self.error is not None:
            return True
        if self.signal is not None:
            return self.signal not in _ASKED_TO_END
        # A shell reports an interrupted program in this way.
        return self.exit_code not in (None, 0, *(128 + number for number in _ASKED_TO_END))
