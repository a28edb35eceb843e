"""`lowwater.map`: many trials, each in a fresh process, with their results in order."""

import functools
import inspect
import os
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import closing
from dataclasses import replace
from typing import Any, Literal

from lowwater.errors import UsageError
from lowwater.isolation.cancel import Cancel
from lowwater.isolation.engines import Engine, engine_of
from lowwater.isolation.isolated import Isolated
from lowwater.isolation.limits import Duration, Limits, Size
from lowwater.isolation.outcome import TrialOutcome
from lowwater.isolation.progress_bar import progress_bar
from lowwater.isolation.results_file import ResultsFile
from lowwater.isolation.smaller import Smaller, is_last, ran_out_of_memory, smaller_by
from lowwater.isolation.trial import Trial, attempt

# ruff: noqa: ANN401 - configurations and results are the user's

Attempt = Callable[[int, Trial, Cancel], TrialOutcome]


class Results(list[Any]):
    """The values in the order of the configurations; `outcomes` has the details of each call."""

    def __init__(self, outcomes: Sequence[TrialOutcome]) -> None:
        """An error stands in the place of a value that there is not."""
        super().__init__(
            outcome.value if outcome.error is None else outcome.error for outcome in outcomes
        )
        self.outcomes = [*outcomes]


def map_trials(  # noqa: PLR0913 - each is a limit or a choice of the user's
    function: Callable[..., Any],
    configs: Iterable[Any],
    *,
    workers: int | None = None,
    on_error: Literal["raise", "collect"] = "raise",
    on_oom: str | Smaller | None = None,
    retries: int | None = None,
    results: str | os.PathLike[str] | None = None,
    progress: bool | None = None,
    timeout: Duration = None,
    memory: Size = None,
    device_memory: Size = None,
    engine: str | Engine | None = None,
    **options: Any,
) -> Results:
    """Call a function for every configuration, each time in a fresh process.

        scores = lowwater.map(trial, [(64, 1e-3), (128, 1e-3)], workers=2)

    A dictionary is passed as keywords and a tuple as arguments, if the function accepts them;
    anything else is passed as its only argument. `workers` is how many calls run at once. The
    first error ends the map and is raised; with `on_error="collect"` the error takes the place of
    the result, and the other calls continue. With `on_oom="halve batch_size"`, a call that ran out
    of memory is made again with half of that argument, down to 1; `on_oom` may also be a function
    that takes a configuration and returns a smaller one, or None to stop. `outcomes` has the
    configuration that was used, and how often it was reduced. `results` names a file: every
    result is written to it at once, and an interrupted map continues from there. The options of
    `@lowwater.isolated` apply here too, and you can override them here.
    """
    _check(function, workers, retries, on_error)
    function = _with_its_limits(function)
    listed = _listed(configs)
    smaller = smaller_by(on_oom, function, listed)
    limits = _limits(function, timeout, memory, device_memory)
    trials = [Trial(function, *arguments(function, config), limits) for config in listed]
    chosen = _engine(function, engine, options)
    tries = _retries(function, retries)
    with ResultsFile(results, function) as kept, progress_bar(len(trials), wanted=progress) as bar:
        found = _with_configs(kept.known(trials), listed if smaller is not None else ())
        bar.start(len(found))
        rest = [(number, trial) for number, trial in enumerate(trials) if number not in found]
        at_once = workers or chosen.workers()
        attempts = _attempts(smaller, listed, chosen, tries)
        with closing(_run(rest, attempts, at_once)) as outcomes:
            for number, outcome in outcomes:
                # Not raised in the generator, which would make an error of a StopIteration.
                if outcome.error is not None and on_error == "raise":
                    raise outcome.error
                kept.add(number, outcome)
                found[number] = outcome
                bar.tell(outcome)
    return Results([found[number] for number in range(len(trials))])


def arguments(function: Callable[..., Any], config: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """How this configuration is given to the function."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # built in
        signature = None
    if isinstance(config, Mapping) and _takes(signature, (), config):
        return (), dict(config)
    # A named tuple is a configuration with a name, and stays whole.
    if type(config) is tuple and _takes(signature, config, {}):
        return config, {}
    return (config,), {}


def _takes(
    signature: inspect.Signature | None, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> bool:
    if signature is None or not all(isinstance(name, str) for name in kwargs):
        return False
    try:
        signature.bind(*args, **kwargs)
    except TypeError:
        return False
    return True


def _with_configs(
    found: dict[int, TrialOutcome], configs: Sequence[Any]
) -> dict[int, TrialOutcome]:
    """The configuration of those that did not need a smaller one."""
    return {
        number: replace(one, config=configs[number]) if configs and not one.reductions else one
        for number, one in found.items()
    }


def _attempts(
    smaller: Smaller | None, configs: Sequence[Any], engine: Engine, retries: int
) -> Attempt:
    """What becomes of one trial: made as it is, or with less where memory runs out."""

    def attempted(number: int, trial: Trial, cancel: Cancel) -> TrialOutcome:
        if smaller is None:
            return attempt(trial, engine, retries, cancel)
        config, times = configs[number], 0
        while True:
            outcome = attempt(trial, engine, retries, cancel, is_final=ran_out_of_memory)
            if not ran_out_of_memory(outcome) or is_last(times):
                break
            try:
                less = smaller(config)
            except Exception as error:  # noqa: BLE001 - the user's function
                outcome = TrialOutcome(error=error.with_traceback(None))
                break
            if less is None:
                break
            config, times = less, times + 1
            trial = Trial(trial.function, *arguments(trial.function, config), trial.limits)
        return replace(outcome, config=config, reductions=times)

    return attempted


def _run(
    trials: Sequence[tuple[int, Trial]],
    attempted: Attempt,
    workers: int,
) -> Generator[tuple[int, TrialOutcome]]:
    """Each outcome as it comes; when the caller stops, those that run are killed."""
    waiting = iter(trials)
    running: dict[Future[TrialOutcome], int] = {}
    with Cancel() as cancel, ThreadPoolExecutor(workers, "lowwater-trial") as pool:
        try:
            while True:
                for number, trial in waiting:
                    running[pool.submit(attempted, number, trial, cancel)] = number
                    if len(running) == workers:
                        break
                if not running:
                    return
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    yield running.pop(future), future.result()
        finally:
            cancel.set()


def _listed(configs: Iterable[Any]) -> list[Any]:
    try:
        return [*configs]
    except TypeError:
        raise UsageError(
            "map() takes the configurations as a list",
            received=repr(configs),
            advice="lowwater.map(trial, [(64, 1e-3), (128, 1e-3)])",
        ) from None


def _check(function: Any, workers: int | None, retries: int | None, on_error: str) -> None:
    if not callable(function):
        raise UsageError("map() takes a function", received=repr(function))
    if on_error not in {"raise", "collect"}:
        raise UsageError(
            'on_error must be "raise" or "collect"',
            received=repr(on_error),
            advice='on_error="collect"',
        )
    if workers is not None and workers < 1:
        raise UsageError("`workers` must be 1 or more", received=repr(workers))
    if retries is not None and retries < 0:
        raise UsageError("`retries` must be 0 or more", received=repr(retries))


def _with_its_limits(function: Callable[..., Any]) -> Callable[..., Any]:
    """A partial of an isolated function is one too; else it would start a server in every child."""
    if isinstance(function, functools.partial) and isinstance(function.func, Isolated):
        return function.func.bound(*function.args, **function.keywords)
    return function


def _limits(function: Any, timeout: Duration, memory: Size, device_memory: Size) -> Limits:
    given = Limits.of(timeout, memory, device_memory)
    return given.filled_from(function.limits) if isinstance(function, Isolated) else given


def _engine(function: Any, engine: str | Engine | None, options: Mapping[str, Any]) -> Engine:
    if engine is None and not options and isinstance(function, Isolated):
        return function.engine
    return engine_of(engine or "local", options)


def _retries(function: Any, retries: int | None) -> int:
    if retries is not None:
        return retries
    return function.retries if isinstance(function, Isolated) else 0
