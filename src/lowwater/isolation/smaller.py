"""`on_oom=`: a trial that ran out of memory is made again with less, as the user has said how."""

import functools
import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from numbers import Integral
from typing import Any, Final

from lowwater.errors import UsageError
from lowwater.isolation.outcome import TrialOutcome
from lowwater.model.out_of_memory import is_out_of_memory

# ruff: noqa: ANN401 - configurations are the user's

_SPELLING: Final = re.compile(r"halve ([A-Za-z_]\w*)")
_ADVICE: Final = 'on_oom="halve batch_size"'
# Halved as often, any number that means a size is 1; a callable may never come to an end.
_MOST_TIMES: Final = 64

Smaller = Callable[[Any], Any]


def smaller_by(wanted: Any, function: Callable[..., Any], configs: Iterable[Any]) -> Smaller | None:
    """How a configuration becomes smaller; refused where one of these cannot."""
    if wanted is None:
        return None
    if callable(wanted):
        chosen: Smaller = wanted
        return chosen
    found = _SPELLING.fullmatch(wanted) if isinstance(wanted, str) else None
    if found is None:
        raise UsageError(
            'on_oom must be "halve ARGUMENT" or a function that takes a configuration and returns '
            "a smaller one, or None",
            received=repr(wanted),
            advice=_ADVICE,
        )
    halved = functools.partial(_halved, found[1], _position(found[1], function))
    for config in configs:
        _check(found[1], _value(found[1], _position(found[1], function), config), config)
    return halved


def ran_out_of_memory(outcome: TrialOutcome) -> bool:
    """Whether the trial was ended for want of memory, or has raised an error that says so."""
    error = outcome.error
    return error is not None and (
        is_out_of_memory(error) or getattr(error, "autopsy", None) is not None
    )


def is_last(times: int) -> bool:
    """Whether it was made smaller too often."""
    return times >= _MOST_TIMES


def _halved(name: str, position: int | None, config: Any) -> Any:
    """The same configuration with half of it; None where it is 1 already."""
    value = _value(name, position, config)
    if not _is_count(value) or value == 1:
        return None
    if isinstance(config, Mapping):
        return {**config, name: value // 2}
    assert position is not None
    return (*config[:position], value // 2, *config[position + 1 :])


def _value(name: str, position: int | None, config: Any) -> Any:
    if isinstance(config, Mapping):
        return config.get(name)
    if type(config) is tuple and position is not None and position < len(config):
        return config[position]
    return None


def _position(name: str, function: Callable[..., Any]) -> int | None:
    """Of the argument in a configuration that is a tuple."""
    try:
        names = [*inspect.signature(function).parameters]
    except (TypeError, ValueError):  # built in
        return None
    return names.index(name) if name in names else None


def _check(name: str, value: Any, config: Any) -> None:
    if value is None:
        raise UsageError(
            f'on_oom="halve {name}" needs {name!r} in every configuration',
            received=repr(config)[:200],
            advice="a dictionary with that key, or a tuple with that argument of the function",
        )
    if not _is_count(value):
        raise UsageError(
            f'on_oom="halve {name}" needs a whole number of 1 or more as {name!r}',
            received=repr(value)[:200],
        )


def _is_count(value: Any) -> bool:
    return not isinstance(value, bool) and isinstance(value, Integral) and int(value) >= 1
