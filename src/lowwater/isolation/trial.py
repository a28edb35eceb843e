"""One call with its limits, made until it succeeds or the attempts are used up."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

from lowwater.errors import ChildDied, NotPicklable
from lowwater.isolation.call import packed
from lowwater.isolation.cancel import Cancel
from lowwater.isolation.engines import Engine
from lowwater.isolation.lending import Lender
from lowwater.isolation.limits import Limits
from lowwater.isolation.local.engine import Raw
from lowwater.isolation.local.result import value_of
from lowwater.isolation.order import TrialOrder
from lowwater.isolation.outcome import MemoryStory, TrialOutcome
from lowwater.probes.levels import levels_now


@dataclass(frozen=True, slots=True)
class Trial:
    """What is to be called, and what it may use."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    limits: Limits


def attempt(
    trial: Trial,
    engine: Engine,
    retries: int,
    cancel: Cancel | None = None,
    *,
    is_final: Callable[[TrialOutcome], bool] = lambda _: False,
) -> TrialOutcome:
    """The outcome of the first attempt that succeeds or `is_final`, or of the last one."""
    before = levels_now().in_use_bytes
    lender = Lender()
    try:
        call = packed(trial.function, trial.args, trial.kwargs, lender.stays_here)
    except NotPicklable as error:
        return TrialOutcome(error=error.with_traceback(None))
    order = TrialOrder(call, trial.limits, lender=lender, cancel=cancel)
    attempts, outcome = 1, _outcome(_run(engine, order), before)
    while outcome.error is not None and attempts <= retries and not is_final(outcome):
        attempts, outcome = attempts + 1, _outcome(_run(engine, order), before)
    return replace(outcome, attempts=attempts)


def _run(engine: Engine, order: TrialOrder) -> Raw:
    try:
        return engine.run(order)
    except ChildDied as error:  # no process could be started at all
        return Raw(error=error.with_traceback(None))


def _outcome(raw: Raw, before: int | None) -> TrialOutcome:
    now = levels_now().in_use_bytes
    grown = None if now is None or before is None else now - before
    story = MemoryStory(parent_grown_bytes=grown, **raw.story)
    value, error = None, cast("BaseException | None", raw.error)
    if raw.result is not None:
        try:
            value = value_of(raw.result)
        except BaseException as raised:  # noqa: BLE001 - the child's, or one met in unpacking
            # Without our frames, which would keep the packed result.
            error = raised.with_traceback(None)
    return TrialOutcome(value, error, story, raw.elapsed_s, started=raw.started)
