"""How right the verdict is on recordings: at each prefix, over time, and on copies."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from lowwater.model import Kind, Timeline, Unit, Verdict
from lowwater.verdict import judge
from lowwater.verdict.lines import with_lines
from replay.first_line import Truth
from replay.recordings import Recorded
from replay.transforms import COPIES, cut

FEWEST_ROUNDS = 5
# From here on there is no excuse for a wrong answer.
ENOUGH_ROUNDS = 12
# So many rounds after a fill has stopped it must be acquitted.
ACQUITTED_WITHIN = 4
# What comes with the stated bytes: headers, the list that holds them, the names.
SLACK = 0.02
# Up to here every round is looked at, then ever fewer.
_EVERY_ROUND = 30
_NEXT = 1.15


class Outcome(StrEnum):
    """What an answer is worth."""

    RIGHT = "right"
    INCONCLUSIVE = "inconclusive"
    WRONG = "wrong"
    FILLING = "filling"


@dataclass(frozen=True)
class Answer:
    """What was said about one recording, cut after so many rounds of a unit, or copied."""

    recorded: Recorded
    truth: Truth
    rounds: int
    verdict: Verdict
    copy: str = ""
    samples: int = 0

    def __str__(self) -> str:
        said = self.verdict
        growth = said.growth_bytes_per_unit
        about = "" if growth is None else f" {growth:,} {said.interval_bytes} per {said.unit}"
        what = self.copy or f"{self.rounds} rounds"
        return f"{self.recorded}, {what}: {said.kind}{about}: {said.because}"

    @property
    def is_filling(self) -> bool:
        """Whether an innocent fill is still rising, or has only just stopped."""
        until = self.truth.fills_until
        return until is not None and self.rounds < until + ACQUITTED_WITHIN

    @property
    def outcome(self) -> Outcome:
        said = self.verdict.is_leak
        if said is self.truth.is_leak:
            return Outcome.RIGHT
        # A trickle is growth for certain, and says that a longer run tells what it is.
        if said is None or (self.truth.is_leak and self.verdict.kind is Kind.TRICKLE):
            return Outcome.INCONCLUSIVE
        return Outcome.FILLING if self.is_filling else Outcome.WRONG

    @property
    def is_late(self) -> bool:
        """Whether a fill stopped four rounds ago and is not acquitted."""
        is_over = self.truth.fills_until is not None and not self.is_filling
        return is_over and self.outcome is not Outcome.RIGHT

    @property
    def misses_rate(self) -> bool:
        """Whether the interval of a leak excludes the stated rate."""
        rate, interval = self.truth.rate_bytes, self.verdict.interval_bytes
        if not self.verdict.is_leak or rate is None or interval is None or not self._same_unit:
            return False
        slack = rate * (self.truth.tolerance if self.truth.is_about else SLACK)
        return not interval[0] - slack <= rate <= interval[1] + slack

    @property
    def _same_unit(self) -> bool:
        unit = self.verdict.unit
        return unit is not None and is_stated(unit, self.truth)


def is_stated(unit: Unit, truth: Truth) -> bool:
    """Whether the first line speaks of this unit."""
    return unit.name == truth.unit and truth.where in (None, unit.where)


def unit_of(timeline: Timeline, truth: Truth) -> Unit | None:
    """The unit that the truth speaks of; else the coarsest that has rounds enough."""
    stated = [unit for unit in timeline.units if is_stated(unit, truth)]
    units = stated or [unit for unit in timeline.units if unit.name != "time"]
    return max(units, key=lambda unit: _telling(unit, timeline), default=None)


def _telling(unit: Unit, timeline: Timeline) -> tuple[bool, bool, int]:
    rounds = rounds_of(timeline, unit)
    is_enough = rounds >= ENOUGH_ROUNDS
    return is_enough, unit.name in ("iteration", "epoch"), -rounds if is_enough else rounds


def rounds_of(timeline: Timeline, unit: Unit) -> int:
    """How many rounds the unit has made."""
    return max((sample.ordinal for sample in timeline.of(unit)), default=0)


def prefixes(recorded: Recorded) -> Iterator[Answer]:
    """The answer after each round from the fifth on; far out, after every few."""
    timeline, truth = recorded.timeline(), recorded.truth
    unit = unit_of(timeline, truth)
    if unit is None:
        return
    for rounds in _looked_at(timeline, unit):
        yield Answer(recorded, truth, rounds, verdict_on(cut(timeline, unit, rounds)))


def _looked_at(timeline: Timeline, unit: Unit) -> Iterator[int]:
    due = FEWEST_ROUNDS
    ordinals = sorted({sample.ordinal for sample in timeline.of(unit)})
    for rounds in ordinals:
        if rounds >= due or rounds == ordinals[-1] >= FEWEST_ROUNDS:
            due = rounds + 1 if rounds < _EVERY_ROUND else round(rounds * _NEXT)
            yield rounds


def whole(recorded: Recorded) -> Answer:
    """The answer at the end of the run."""
    timeline, truth = recorded.timeline(), recorded.truth
    unit = unit_of(timeline, truth)
    rounds = rounds_of(timeline, unit) if unit else 0
    return Answer(recorded, truth, rounds, verdict_on(timeline), "whole")


def copies(recorded: Recorded) -> Iterator[Answer]:
    """The answers on the same run seen otherwise."""
    timeline, truth = recorded.timeline(), recorded.truth
    unit = unit_of(timeline, truth)
    for transform in COPIES:
        copy = transform(timeline)
        rounds, samples = (rounds_of(copy, unit), len(copy.of(unit))) if unit else (0, 0)
        verdict = verdict_on(copy)
        yield Answer(recorded, truth, rounds, verdict, transform.__name__, samples)


def differs(copy: Answer, original: Answer) -> bool:
    """Whether a copy is judged otherwise; with few samples it may be inconclusive."""
    if copy.samples < ENOUGH_ROUNDS and copy.verdict.is_leak is None:
        return False
    return copy.verdict.is_leak is not original.verdict.is_leak


def verdict_on(timeline: Timeline) -> Verdict:
    """The leading verdict."""
    return judge(with_lines(timeline))[0]


def faults_of(answers: Sequence[Answer]) -> dict[str, list[Answer]]:
    """What no answer on the prefixes of a run may be, by what is wrong with it."""
    late_enough = [one for one in answers if one.rounds >= ENOUGH_ROUNDS]
    found = {
        "wrong": [one for one in late_enough if one.outcome is Outcome.WRONG],
        "taken back": [one for one in flaps(answers) if one.outcome is Outcome.WRONG],
        "rate missed": [one for one in answers if one.misses_rate],
        "acquitted late": [one for one in answers if one.is_late],
    }
    return {what: faulty for what, faulty in found.items() if faulty}


def flaps(answers: Sequence[Answer]) -> list[Answer]:
    """Prefixes of a leak that take back what an earlier one has said, or doubt it again."""
    said = next((one.rounds for one in answers if one.verdict.is_leak), None)
    if said is None or not answers[0].truth.is_leak:
        return []
    return [one for one in answers if one.rounds > said and not one.verdict.is_leak]
