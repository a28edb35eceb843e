"""A call to be placed into one function of a library, and how that is done and undone."""

import inspect
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from types import FunctionType, ModuleType
from typing import Any

from lowwater.agent.instrumentation._inject import Where, injected
from lowwater.model.interruption import let_through


@dataclass(frozen=True, slots=True)
class Placement:
    """Call `placed(*arguments)` at the start or the end of `function`."""

    function: FunctionType
    placed: Callable[..., object]
    at: Where
    arguments: tuple[str, ...] = ()


def innermost(function: Any) -> FunctionType:  # noqa: ANN401 - any decorated function
    """The function that the user's call ends up in, below all decorators."""
    plain = inspect.unwrap(function)
    if not isinstance(plain, FunctionType):
        msg = f"{function!r} is not a Python function"
        raise TypeError(msg)
    return plain


def place_all(
    module: ModuleType,
    placements: Callable[[ModuleType], Iterable[Placement]],
    undo: ExitStack,
    note: Callable[[str], None],
) -> None:
    """Place what can be placed; the rest becomes a note, because the program comes first."""
    for placement in _surviving(placements(module), module.__name__, note):
        try:
            undo.enter_context(
                injected(placement.function, placement.placed, placement.at, *placement.arguments)
            )
        except Exception as error:  # noqa: BLE001
            let_through(error)
            name = placement.function.__qualname__
            note(f"no boundaries from {module.__name__} {name}: {error}")


def _surviving(
    placements: Iterable[Placement], module_name: str, note: Callable[[str], None]
) -> Iterator[Placement]:
    """Iterate until the library turns out not to look as expected."""
    try:
        yield from placements
    except Exception as error:  # noqa: BLE001
        let_through(error)
        note(f"no boundaries from {module_name}: {type(error).__name__}: {error}")
