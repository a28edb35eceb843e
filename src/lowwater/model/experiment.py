"""The vocabulary of experiments: what was changed, what was measured, and what it says."""

from dataclasses import dataclass
from enum import StrEnum

from lowwater.model.found import Finding
from lowwater.model.judged import Kind


class Fact(StrEnum):
    """What a run of an experiment says of itself in its recording."""

    # What `fit` was given, and where it can run.
    SEEN = "seen"
    # A loop of the program was left early, or a `fit` had fewer epochs.
    LOOP_LEFT = "loop_left"
    EPOCHS_CUT = "epochs_cut"
    # Which of the paths were cut, by their numbers, and the names of what was cut below those
    # that are vague.
    PATHS_CUT = "paths_cut"
    # What was opened for writing, and what has changed in the folder.
    OPENED = "opened"
    CHANGED = "changed"


# What is said of a change that would tell nothing more.
NOT_NEEDED = "not needed"
# What joins two that hold the same memory; what is told of one alone is cut off here.
TOGETHER = ", together with "


@dataclass(frozen=True, slots=True)
class Measured:
    """The growth per round trip of one run; `problem` says why there is none.

    `left_out` is what a change could not be made to, where it was made only in part.
    """

    kind: Kind = Kind.INCONCLUSIVE
    unit: str = ""
    where: str | None = None
    rounds: int = 0
    growth_bytes: int | None = None
    interval_bytes: tuple[int, int] | None = None
    problem: str = ""
    elapsed_s: float = 0.0
    left_out: str = ""
    # Why the change has come to nothing, in a program that ran as ever.
    not_made: str = ""
    # Whether the problem is that the run was ended by us, and not that the program fails.
    was_ended: bool = False

    @property
    def fails(self) -> bool:
        """Whether the program itself is the reason that nothing was measured."""
        return bool(self.problem) and not self.was_ended

    @property
    def leaks(self) -> bool:
        """Whether this run leaks."""
        return self.kind is Kind.LEAK

    @property
    def grows(self) -> bool:
        """Whether there is a growth to be explained: a leak, or more and more holes in the heap."""
        return self.kind in {Kind.LEAK, Kind.FRAGMENTED} and bool(self.growth_bytes)


class Effect(StrEnum):
    """What a change has done to the growth."""

    STOPS = "stops"
    LESS = "less"
    SAME = "same"
    MORE = "more"
    UNCLEAR = "unclear"
    FAILED = "failed"
    UNTESTED = "untested"


@dataclass(frozen=True, slots=True)
class Difference:
    """The effect of a change, with the share of the growth that it explains."""

    effect: Effect
    share: float = 0.0
    because: str = ""


@dataclass(frozen=True, slots=True)
class Experiment:
    """One line of the table: what was changed, what was measured, and what it says.

    The run as it is has neither a `key` nor a difference; what could not apply was not measured.
    `blamed` is what the change has taken away, `codes` the causes that it speaks about, and
    `places` the lines that went with it, such as `train.py:7-19`.
    What other changes take away, those with the keys in `covers`, this one takes away too. Where
    it makes no difference, the causes in `rejects` are not at work.
    `tests` are the findings that it was made for, by their identity, and `together` the keys of
    changes that were made at once. `how` says when the growth goes, where the name does not.
    With `is_amount` less is made, which tells nothing about who holds it; it is a cause only
    where it `is_suspected`: a finding says that too much is made.
    """

    name: str
    says: str
    key: str = ""
    detail: str = ""
    measured: Measured | None = None
    difference: Difference | None = None
    blamed: str = ""
    codes: tuple[str, ...] = ()
    covers: tuple[str, ...] = ()
    rejects: tuple[str, ...] = ()
    places: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    together: tuple[str, ...] = ()
    how: str = ""
    is_amount: bool = False
    is_suspected: bool = True


class State(StrEnum):
    """What became of a finding of the first run."""

    CONFIRMED = "confirmed"
    REJECTED = "rejected"
    UNTESTED = "untested"


@dataclass(frozen=True, slots=True)
class Conclusion:
    """Sentences for the end, and what became of each finding."""

    sentences: tuple[str, ...] = ()
    states: tuple[tuple[Finding, State], ...] = ()


@dataclass(frozen=True, slots=True)
class Experiments:
    """The whole table: the run as it is first, then one row for each change."""

    rows: tuple[Experiment, ...] = ()
    elapsed_s: float = 0.0
    notes: tuple[str, ...] = ()
    # Whether even the longest run was cut short: what comes later was not seen.
    is_cut: bool = False

    @property
    def base(self) -> Measured:
        """The program as it is."""
        measured = self.rows[0].measured if self.rows else None
        return measured or Measured()
