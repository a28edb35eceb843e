"""Lines of the program that tallies point at: which call, which definition grew."""

from collections.abc import Iterable
from dataclasses import replace

from lowwater.model import Evidence, Kind, Tally, tallies

# Calls that train or make pipelines, the most telling first.
TRAINING = ("fit", "train_on_batch", "train_step", "fit_generator")
FEEDING = ("from_generator", "py_function", "numpy_function", *TRAINING, "evaluate", "predict")
# Verdicts on a run in which memory rose, and is in use at one level by now. What malloc does with
# freed memory beside that differs from run to run, and does not empty a cache.
_ROSE_ONCE = frozenset({Kind.CACHE, Kind.WARM_UP, Kind.RESERVED, Kind.FRAGMENTED})


def grew(tally: Tally, evidence: Evidence) -> bool:
    """Whether it rose from each census to the next.

    An inner loop may call for two censuses in one round of the verdict's unit: what happens once
    per round need not have happened between these.
    """
    unit = evidence.verdict.unit
    if unit is None or len(tally.counts) != len(evidence.censuses):
        return tally.grew
    told: list[int] = []
    later: int | None = None
    for census, count in zip(reversed(evidence.censuses), reversed(tally.counts), strict=True):
        ordinal = census.ordinal_of(unit)
        if later is None or ordinal is None or ordinal < later:
            told.insert(0, count)
            later = ordinal
    # Where all were taken in one round, what grew has done so more than once in it.
    return replace(tally, counts=tuple(told)).grew if len(told) > 1 else tally.grew


def grown(evidence: Evidence, kind: str, *names: str) -> Tally | None:
    """The tally of this kind that grew in every interval, and most; one with a line first."""
    found = (tally for tally in evidence.tallied(kind) if grew(tally, evidence))
    return fastest(tally for tally in found if not names or tally.name.lstrip("_") in names)


def fastest(found: Iterable[Tally]) -> Tally | None:
    """The one that grew most, of those with a line if there are any."""
    ranked = sorted(found, key=lambda one: (one.where is not None, risen(one)))
    return ranked[-1] if ranked else None


def altogether(evidence: Evidence, name: str) -> Tally | None:
    """All calls of this name as one, at the line that has most; None unless it ever grew."""
    found = [one for one in evidence.tallied(tallies.CALLS) if one.name == name]
    first = fastest(one for one in found if grew(one, evidence))
    if first is None:
        return None
    return replace(first, counts=tuple(map(sum, zip(*(one.counts for one in found), strict=True))))


def risen(tally: Tally) -> int:
    """By how much it rose between the first and the last census."""
    return tally.counts[-1] - tally.counts[0]


def short_name(tally: Tally) -> str:
    """The name of a function without that of the function it is defined in."""
    return tally.name.rpartition("<locals>.")[2]


def line_of_call(evidence: Evidence, names: tuple[str, ...]) -> str | None:
    """The line of the first of these calls that was made again in every interval."""
    calls = (grown(evidence, tallies.CALLS, name) for name in names)
    return next((call.where for call in calls if call is not None and call.where), None)


def datasets(evidence: Evidence, name: str) -> list[Tally]:
    """Pipelines of one kind that live, such as `Cache`; those with a line of the program first.

    Where live data sets were not counted, the calls that make them are: `cache`, `shuffle`.
    """
    counted = evidence.tallied(tallies.DATASETS)
    found = [one for one in counted if one.name.lstrip("_").startswith(name) and one.counts[-1]]
    if not counted:
        found = [one for one in evidence.tallied(tallies.CALLS) if one.name == name.lower()]
    return sorted(found, key=lambda tally: tally.where is None)


def filled(found: list[Tally], evidence: Evidence) -> Tally | None:
    """The first of these caches or buffers, where memory rose once and did not go on."""
    return found[0] if found and evidence.verdict.kind in _ROSE_ONCE else None


def models_made(evidence: Evidence) -> Tally | None:
    """Models that were made again and again, whether or not they still live."""
    return grown(evidence, tallies.CALLS, tallies.MODEL) or grown(evidence, tallies.MODELS)


def has_one_model(evidence: Evidence) -> bool:
    """Whether no new models were made; False as well where nobody has counted them."""
    was_counted = any(tally.name == tallies.MODEL for tally in evidence.tallied(tallies.CALLS))
    return was_counted and models_made(evidence) is None


def retraced(evidence: Evidence) -> Tally | None:
    """A `tf.function` that is traced again and again, while no more such functions are made.

    Those of Keras have no line of the program, and every new model traces its own.
    """
    functions = (one for one in evidence.tallied(tallies.FUNCTIONS) if grew(one, evidence))
    remade = {(one.name, one.where) for one in functions}
    has_new_models = models_made(evidence) is not None
    return fastest(
        tally
        for tally in evidence.tallied(tallies.TRACES)
        if grew(tally, evidence)
        and (tally.name, tally.where) not in remade
        and not (has_new_models and tally.where is None)
    )


def remade(evidence: Evidence) -> Tally | None:
    """What is made anew in every round for a model that stays: a function, compile, optimizer.

    A new model needs all of these anew, and is not to blame for them; where the models made
    were not counted, only a function that the program itself defines can be told.
    """
    if models_made(evidence) is not None:
        return None
    functions = evidence.tallied(tallies.FUNCTIONS)
    found = fastest(one for one in functions if one.where and grew(one, evidence))
    if found is not None or not has_one_model(evidence):
        return found
    calls = grown(evidence, tallies.CALLS, "compile")
    return calls or grown(evidence, tallies.OPTIMIZERS)
