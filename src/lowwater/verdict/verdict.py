"""One verdict per unit, and the one that the report leads with."""

from dataclasses import replace

import numpy as np

from lowwater.model import Kind, Question, Sample, Timeline, Unit, Verdict, gauges
from lowwater.model.policy import POLICY
from lowwater.model.units import format_bytes
from lowwater.verdict import words
from lowwater.verdict.account import account_of
from lowwater.verdict.case import CLOCK_UNIT, MOST_MARKS, Case, most_marks, open_case
from lowwater.verdict.cross_unit import (
    Heard,
    falls_back_within,
    is_within,
    knows_better,
    outlasts,
    saw_it_collected,
    was_over_before,
)
from lowwater.verdict.marks import judge_case
from lowwater.verdict.series import Series
from lowwater.verdict.trend import trend

_KERAS_UNITS = frozenset(
    {"fit", "epoch", "evaluate", "predict", "train_on_batch", "model", "session"}
)
# Of units with about equally many rounds, the one that the user thinks in: marked by hand, or a
# loop with its line. A call is counted when it begins, so it has one round less than its loop.
# A search with one epoch in each trial is told by its models.
_FAMILIAR = (
    *("iteration", "model", "fit", "epoch", "session", "evaluate", "predict"),
    *("train_on_batch", "test_on_batch", "predict_on_batch", "clear_session", CLOCK_UNIT),
)
_OTHERS = "Does another part of the run explain it?"
_ADVICE = 'mark the round trips with lowwater.boundary("episode")'

# Of several places the worst is told, a leak before all.
_SEVERITY = (
    Kind.LEAK,
    Kind.INCONCLUSIVE,
    Kind.FRAGMENTED,
    Kind.CACHE,
    Kind.SAWTOOTH,
    Kind.RESERVED,
    Kind.WARM_UP,
    Kind.TRICKLE,
    Kind.FLAT,
)


def judge(timeline: Timeline) -> tuple[Verdict, tuple[Verdict, ...]]:
    """The leading verdict, and one per unit in the order of the timeline."""
    most = most_marks(sum(len(_places(timeline, unit)) for unit in timeline.units))
    first = [_hear(timeline, unit, most) for unit in timeline.units]
    model_s = _first_model_s(timeline)
    second = [replace(one, verdict=_reconsidered(one, first, model_s)) for one in first]
    # A verdict that others overruled is told, but does not lead.
    upheld = [one for one, was in zip(second, first, strict=True) if one.verdict == was.verdict]
    return _leading(timeline, upheld), tuple(one.verdict for one in second)


def judge_unit(timeline: Timeline, unit: Unit, most: int = MOST_MARKS) -> Verdict:
    """The verdict on one unit alone: that of its worst place, by so many marks at the most."""
    places = _places(timeline, unit)
    verdicts = [judge_case(open_case(timeline, unit, place, most)) for place in places]
    if not verdicts:
        return Verdict(Kind.INCONCLUSIVE, f"no {words.many(unit)} were measured", unit)
    return min(verdicts, key=_severity)


def _places(timeline: Timeline, unit: Unit) -> dict[str, None]:
    return dict.fromkeys(p for s in timeline.of(unit) for p in gauges.places(s.gauges))


def _severity(verdict: Verdict) -> tuple[int, int]:
    return _SEVERITY.index(verdict.kind), -(verdict.growth_bytes_per_unit or 0)


def _hear(timeline: Timeline, unit: Unit, most: int) -> Heard:
    times = sorted(sample.elapsed_s for sample in timeline.of(unit)) or [0.0]
    # The first sample ends the first round, so the unit began about a round earlier.
    round_s = (times[-1] - times[0]) / max(len(times) - 1, 1)
    start_s = max(0.0, times[0] - round_s)
    samples = timeline.of(unit)
    used_framework = any(gauges.FUNCTIONS in sample.gauges for sample in samples)
    verdict = judge_unit(timeline, unit, most)
    keeps_rising = _keeps_rising(open_case(timeline, unit, verdict.place, most))
    return Heard(verdict, unit, start_s, times[-1], _risen(samples), used_framework, keeps_rising)


def _keeps_rising(case: Case) -> bool:
    """Whether memory rose in each round after warm-up, or in nearly each, by enough to be seen."""
    y = case.steady.y
    if len(y) < POLICY.marks_of_a_piece or np.ptp(y) < POLICY.resolution_bytes:
        return False
    return bool((np.diff(y) > 0).all()) or trend(case.steady).p_rising <= POLICY.likely


def _risen(samples: tuple[Sample, ...]) -> int:
    resident = [gauges.rss_bytes(sample.gauges) for sample in samples]
    return resident[-1] - resident[0] if resident else 0


def _first_model_s(timeline: Timeline) -> float | None:
    """When there was a model for the first time, or TensorFlow at work without one."""
    ids = {unit.id for unit in timeline.units if unit.name in _KERAS_UNITS}
    seen = [sample.elapsed_s for sample in timeline.samples if sample.unit_id in ids]
    at_work = [s.elapsed_s for s in timeline.samples if gauges.FUNCTIONS in s.gauges]
    return min(seen or at_work, default=None)


def _reconsidered(one: Heard, all_: list[Heard], first_model_s: float | None) -> Verdict:
    """A unit's own verdict, unless others know better about its growth."""
    found = one.verdict
    if found.kind is not Kind.LEAK:
        return found
    objection = _objection(one, all_, first_model_s)
    asked = Question("Is there another explanation?", _OTHERS, answer=objection is not None)
    found = replace(found, questions=(*found.questions, asked))
    if objection is None:
        return found
    kind, but = objection
    grown = format_bytes(found.growth_bytes_per_unit or 0)
    memory = words.memory_of(found.place)
    because = f"{memory} rose by {grown} per {words.one(one.unit)}, but {but}"
    return replace(found, kind=kind, because=because)


def _objection(
    one: Heard, all_: list[Heard], first_model_s: float | None
) -> tuple[Kind, str] | None:
    """What others say against a leak: the kind that it is instead, and why."""
    if _is_loading(one, first_model_s):
        return Kind.CACHE, "stopped before training began: the program was loading data"
    for other in all_:
        units = words.many(other.unit)
        if falls_back_within(one, other):
            return Kind.SAWTOOTH, f"it falls back within each {words.one(other.unit)}"
        if was_over_before(one, other):
            return Kind.CACHE, f"has not grown in the {units} since: the program keeps this data"
        if knows_better(other, one) and (_is_vague(one.verdict) or saw_it_collected(other, one)):
            return other.verdict.kind, f"the {units} in that time show no growth"
    return None


def _is_vague(verdict: Verdict) -> bool:
    if verdict.interval_bytes is None or not verdict.growth_bytes_per_unit:
        return True
    return verdict.interval_bytes[0] < POLICY.clear_share * verdict.growth_bytes_per_unit


def _is_loading(one: Heard, first_model_s: float | None) -> bool:
    """Whether this loop had ended when there was nothing yet to be trained."""
    is_loop = one.unit.name not in _KERAS_UNITS and one.unit.name != CLOCK_UNIT
    return is_loop and first_model_s is not None and one.end_s <= first_model_s


def _leading(timeline: Timeline, heard: list[Heard]) -> Verdict:
    by_rounds = sorted((one for one in heard if one.verdict.units_seen), key=_coarseness)
    aligned = [one for one in by_rounds if one.unit.name != CLOCK_UNIT]
    leaks = [one for one in aligned if one.verdict.kind is Kind.LEAK]
    if leaks:
        return _most_familiar(_without_cut_short(leaks)).verdict
    if told := _acquittal(aligned):
        return told
    clock = [one for one in by_rounds if one.unit.name == CLOCK_UNIT]
    # Where a unit has rounds enough to be judged one day, seconds do not speak in its place.
    can_tell = any(_can_be_judged(one) for one in aligned)
    if clock and not can_tell and clock[0].verdict.kind is not Kind.INCONCLUSIVE:
        return clock[0].verdict
    return _nearest(aligned) or _nearest(clock) or _from_outside(timeline)


def _without_cut_short(leaks: list[Heard]) -> list[Heard]:
    """Units whose samples cost too much are not sampled to the end, and seem to be coarser."""
    return [one for one in leaks if not any(outlasts(other, one) for other in leaks)]


def _coarseness(one: Heard) -> tuple[int, int]:
    return one.verdict.units_seen, _strangeness(one)


def _strangeness(one: Heard) -> int:
    is_known = one.unit.name in _FAMILIAR
    return _FAMILIAR.index(one.unit.name) if is_known else -1


def _most_familiar(by_rounds: list[Heard]) -> Heard:
    """The coarsest unit, or one as coarse that the user knows better."""
    fewest = by_rounds[0].verdict.units_seen
    limit = max(fewest + 1, POLICY.coarser * fewest)
    return min((one for one in by_rounds if one.verdict.units_seen <= limit), key=_strangeness)


def _acquittal(aligned: list[Heard]) -> Verdict | None:
    """The coarsest verdict of those that speak for most of the run, or for its rise."""
    unsure = [one for one in aligned if one.verdict.is_leak is None and one.keeps_rising]
    # What is level inside of the rounds of a loop says nothing where the loop rises in each.
    acquitting = [
        one for one in aligned if one.acquits and not any(is_within(one, outer) for outer in unsure)
    ]
    # Units with too few rounds to be judged at all do not keep others from speaking.
    judged = [one for one in aligned if _can_be_judged(one)]
    longest = max((one.span_s for one in judged), default=0.0)
    if not any(POLICY.alike * one.span_s >= longest for one in acquitting):
        return None
    risen = max(one.risen_bytes for one in acquitting)
    if risen >= POLICY.noticeable_bytes:
        # The user saw memory rise: the answer is about where it did.
        return _most_familiar([o for o in acquitting if o.risen_bytes >= risen / 2]).verdict
    most = max(one.span_s for one in acquitting)
    return _most_familiar([o for o in acquitting if o.span_s >= POLICY.covers * most]).verdict


def _nearest(heard: list[Heard]) -> Verdict | None:
    """Of verdicts that cannot tell, one that rises before others, then that of the most rounds.

    But the loop around it is told where it rises too, and has rounds enough to be judged: as with
    leaks, the coarsest unit leads.
    """
    unsure = [one for one in heard if one.verdict.kind is Kind.INCONCLUSIVE]
    rising = [one for one in unsure if one.keeps_rising and _can_be_judged(one)]
    outermost = [one for one in unsure if not any(is_within(one, outer) for outer in rising)]
    best = max(outermost, key=lambda one: (one.keeps_rising, one.verdict.units_seen), default=None)
    return best.verdict if best is not None else None


def _can_be_judged(one: Heard) -> bool:
    return one.verdict.units_seen >= POLICY.fewest_marks


def _from_outside(timeline: Timeline) -> Verdict:
    """All there is to say of a program that never came to a boundary."""
    seen = timeline.outside
    series = Series(
        np.array([one.elapsed_s for one in seen], dtype=np.float64),
        np.array([one.anon_bytes for one in seen], dtype=np.float64),
    )
    if not seen:
        return Verdict(Kind.INCONCLUSIVE, f"nothing was measured; {_ADVICE}")
    grown = float(series.y[-1] - series.y[0])
    if len(series) >= POLICY.enough_rounds and not account_of(series.skip(2)).is_rising:
        because = (
            f"no round trips seen, but resident memory did not keep growing over {len(series)} "
            "samples from outside the program"
        )
        return Verdict(Kind.FLAT, because)
    because = (
        f"no round trips seen: resident memory changed by {format_bytes(grown)}, which may be "
        f"loading or growth; {_ADVICE} to judge"
    )
    return Verdict(Kind.INCONCLUSIVE, because)
