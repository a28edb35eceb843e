"""What one run of an experiment has measured."""

from lowwater.model import Diagnosis, Ending, Kind, Note, RowName, Topic, Verdict
from lowwater.model.experiment import Measured

_LEVEL_NOW = frozenset({Kind.WARM_UP, Kind.CACHE})
# The first rounds warm up.
_WARM_UP = 1 / 3


def measured_in(diagnosis: Diagnosis, base: Measured | None, last_words: str = "") -> Measured:
    """The growth per round: of what is in use, or of what is resident where holes are at issue.

    `last_words` is what a program that failed has said.
    """
    verdict = _verdict(diagnosis, base)
    ending = diagnosis.ending
    growth, interval = verdict.growth_bytes_per_unit, verdict.interval_bytes
    kind = verdict.kind if base is None else base.kind
    if kind is Kind.FRAGMENTED:
        growth, interval = _resident_growth(diagnosis, verdict)
    elif base is not None and verdict.kind in _LEVEL_NOW:
        # The slope of the whole is that of the rise before; since then it is level.
        growth, interval = 0, None
    problem = _failed(diagnosis, verdict, base, last_words)
    ended = _noted(diagnosis, Topic.ENDED_BY_US)
    return Measured(
        verdict.kind,
        verdict.unit.name if verdict.unit else "",
        verdict.unit.where if verdict.unit else None,
        verdict.units_seen,
        growth,
        interval,
        problem,
        ending.elapsed_s if ending is not None else 0.0,
        _why(diagnosis, Topic.MADE_IN_PART),
        # In the program as it is nothing was to be changed.
        _why(diagnosis, Topic.NOT_MADE) if base is not None else "",
        bool(problem) and ended is not None,
    )


def _verdict(diagnosis: Diagnosis, base: Measured | None) -> Verdict:
    """That of the same unit as in the first run: growth per epoch is compared with its like."""
    if base is not None:
        for one in diagnosis.units:
            if one.unit is not None and (one.unit.name, one.unit.where) == (base.unit, base.where):
                return one
        return Verdict(Kind.INCONCLUSIVE, f"no {base.unit} was seen")
    return diagnosis.verdict


def _resident_growth(
    diagnosis: Diagnosis, verdict: Verdict
) -> tuple[int | None, tuple[int, int] | None]:
    """From the ledger, which follows the unit of the verdict; by halves, to see the noise."""
    series = next(
        (row.series for row in diagnosis.ledger.rows if row.name == RowName.ANONYMOUS), ()
    )
    if len(series) < 6 or not verdict.units_seen:  # noqa: PLR2004 - two points for each third
        return None, None
    rounds_each = verdict.units_seen / (len(series) - 1)
    first, last = round(_WARM_UP * (len(series) - 1)), len(series) - 1
    middle = (first + last) // 2

    def slope(start: int, end: int) -> int:
        return round((series[end] - series[start]) / ((end - start) * rounds_each))

    halves = sorted((slope(first, middle), slope(middle, last)))
    return slope(first, last), (halves[0], halves[1])


def _failed(diagnosis: Diagnosis, verdict: Verdict, base: Measured | None, last_words: str) -> str:
    # A program may fail at its end, when all has been seen.
    rounds_needed = base.rounds // 2 if base is not None else 0
    is_judged = verdict.is_leak is not None and verdict.units_seen >= rounds_needed
    failed = "" if is_judged or diagnosis.ending is None else how_it_failed(diagnosis.ending)
    ended = _noted(diagnosis, Topic.ENDED_BY_US)
    said = f"{last_words} ({failed})" if last_words else failed
    return (said if ended is None else str(ended)) if failed else ""


def _noted(diagnosis: Diagnosis, topic: Topic) -> Note | None:
    return next((note for note in diagnosis.of_experiment if note.topic is topic), None)


def _why(diagnosis: Diagnosis, topic: Topic) -> str:
    note = _noted(diagnosis, topic)
    return "" if note is None else note.text


def how_it_failed(ending: Ending) -> str:
    """In words; nothing where it did not."""
    if ending.signal is not None:
        is_oom = ending.out_of_memory
        return "killed: out of memory" if is_oom else f"ended by signal {ending.signal}"
    code = f"exit code {ending.exit_code}" if ending.exit_code else ""
    if ending.out_of_memory:
        return f"ran out of memory, {code}" if code else "ran out of memory"
    return code
