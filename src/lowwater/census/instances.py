"""Finds the living objects of a class, without disturbing what other threads do."""

import gc
from collections.abc import Callable, Container, Iterator
from itertools import chain, compress
from typing import Any


def instances_of(base: type) -> list[Any]:
    """All living objects of a class and of those that derive from it."""
    return objects_of({*map(id, subclasses_of(base))})


def objects_of(types: Container[int]) -> list[Any]:
    """All objects whose type has one of these identities.

    Among all objects are tuples that another thread is just filling, and it fails if anybody
    holds one. So each generation is looked at within one call of C, in which no other thread can
    run, and nothing is kept in a variable. The list of objects is made twice for it: the second
    has a few more at its end, which are our own.
    By the identity of the type, for a type may have a hash of its own, and that is the program's.
    """
    is_wanted = types.__contains__
    found: dict[int, Any] = {}
    was_on = gc.isenabled()
    gc.disable()
    try:
        # The youngest first: objects only grow older, so none is missed.
        for age in range(3):
            some = list(
                compress(
                    chain.from_iterable(map(gc.get_objects, (age,))),
                    map(
                        is_wanted,
                        map(id, map(type, chain.from_iterable(map(gc.get_objects, (age,))))),
                    ),
                )
            )
            found.update(zip(map(id, some), some, strict=True))
    finally:
        if was_on:
            gc.enable()
    return [*found.values()]


def subclasses_of(base: type) -> Iterator[type]:
    """The class itself and all that derive from it."""
    subclasses: Callable[[type], list[type]] = type.__subclasses__
    waiting, seen = [base], {id(base)}
    while waiting:
        kind = waiting.pop()
        yield kind
        new = [one for one in subclasses(kind) if id(one) not in seen]
        seen.update(map(id, new))
        waiting += new
