"""Finds the living objects of a class, without disturbing what other threads do."""

import gc
from collections.abc import Callable, Container, Iterator
from itertools import chain, compress, repeat
from typing import Any

# Python 3.12 freezes a few hundred objects itself when it starts; a program that does freezes all.
_FEW_FROZEN = 1000


def is_complete() -> bool:
    """Whether all objects of the program are found here: those that it has frozen are not."""
    return gc.get_freeze_count() <= _FEW_FROZEN


def instances_of(base: type) -> list[Any]:
    """All living objects of a class and of those that derive from it."""
    return objects_of({*map(id, subclasses_of(base))})


def objects_of(types: Container[int]) -> list[Any]:
    """All objects whose type has one of these identities.

    By the identity of the type: its hash may be the program's own code, which must not run here.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        # The youngest first: objects only grow older, so none is missed.
        found = [thing for age in range(3) for thing in _objects_of_age(age, types)]
    finally:
        if was_on:
            gc.enable()
    return [*{id(thing): thing for thing in found}.values()]


def kinds_that_refer_to(thing: Any) -> list[type]:  # noqa: ANN401
    """The types of all objects that refer to this one, apart from what looks here.

    Found and let go within one call of C, for the reason below.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        referrers = chain.from_iterable(map(gc.get_referrers, repeat(thing, 1)))
        found = list(map(type, referrers))
    finally:
        if was_on:
            gc.enable()
    return [kind for kind in found if kind is not repeat]


def _objects_of_age(age: int, types: Container[int]) -> list[Any]:
    """Those of one generation, found within one call of C, in which no other thread can run.

    Among all objects are tuples that another thread is just filling, and it fails if anybody
    holds one meanwhile. The list of all objects is made twice for it: the second has a few more
    at its end. They are our own iterators, and have to be used up, or the list would hold
    itself.
    """
    everything = chain.from_iterable(map(gc.get_objects, (age,)))
    again = chain.from_iterable(map(gc.get_objects, (age,)))
    is_wanted = map(types.__contains__, map(id, map(type, again)))
    return list(chain(compress(everything, is_wanted), compress(is_wanted, repeat(0))))


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
