"""What belongs to a Keras model: its layers, its optimizer, its variables."""

import contextlib
from collections.abc import Iterable, Iterator
from typing import Any

from lowwater.giveback.living import MODEL, Watched, strong


def parts_of(thing: Any) -> list[Any]:  # noqa: ANN401 - a model, a layer or an optimizer
    """The object and all that belongs to it, each once."""
    return [*{id(part): part for part in _parts(thing)}.values()]


def parts_of_others(released: Iterable[Watched]) -> set[int]:
    """The identity of everything that a living model needs, apart from those to be released."""
    own: set[int] = set()
    for one in released:
        own.update(id(part) for part in parts_of(one.reference()))
    others = [model for model in strong(MODEL) if id(model) not in own]
    return {id(part) for model in others for part in parts_of(model)}


def outermost(watched: list[Watched]) -> list[Watched]:
    """Those that are not part of another one among them; the dead are left out."""
    inner: set[int] = set()
    for one in watched:
        inner.update(id(part) for part in parts_of(one.reference()) if id(part) != one.identity)
    return [one for one in watched if one.is_alive and one.identity not in inner]


def _parts(thing: Any) -> Iterator[Any]:  # noqa: ANN401
    yield thing
    # Libraries change what they call private, and a model may not be built yet.
    with contextlib.suppress(Exception):
        yield from thing._flatten_layers(include_self=False, recursive=True)  # noqa: SLF001
    # What a Sequential runs: no layer of its own to Keras.
    inner = getattr(thing, "_functional", None)
    if inner is not None:
        yield inner
    yield from _variables(thing)
    optimizer = getattr(thing, "optimizer", None)
    if optimizer is not None and not isinstance(optimizer, str):
        yield optimizer
        yield from _variables(optimizer)


def _variables(thing: Any) -> Iterator[Any]:  # noqa: ANN401
    with contextlib.suppress(Exception):
        variables = thing.variables
        yield from variables() if callable(variables) else variables
