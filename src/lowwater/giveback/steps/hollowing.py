"""Empties what is still referred to although its time is over."""

import gc
from collections.abc import Iterable, Iterator
from typing import Any

from lowwater.giveback import living
from lowwater.giveback.gradients.lending import lent
from lowwater.giveback.holding import held_by_nobody_else
from lowwater.giveback.hollow import empty
from lowwater.giveback.in_hand import parts_in_hand
from lowwater.giveback.parts import outermost, parts_of, parts_of_others
from lowwater.giveback.request import ReleaseRequest
from lowwater.giveback.steps._step import ReleaseStep

# A model tells its name; that of its hundred layers says nothing more.
_TOLD = (living.MODEL, living.OPTIMIZER, living.FUNCTION)
_EMPTIED = (*_TOLD, living.LAYER, living.VARIABLE)


class Hollowing(ReleaseStep):
    """Weights, compiled functions and optimizer state go; a shell stays, which says so if used.

    With `hollow=True` all that was given is emptied, with its parts, but for those that the
    program has in hand besides: an optimizer in a variable that is read again, say. At the end
    of a `lifecycle` it is what was made inside the block and is held by the block's own
    variables, and by nothing else.
    """

    name = "empty what is held"

    def run(self, request: ReleaseRequest) -> str | None:
        """Empty the objects, and collect what they held."""
        if not request.alive() or not (request.hollow or request.block):
            return None
        things = {id(thing): thing for thing in self._things(request)}
        things = {key: thing for key, thing in things.items() if key not in request.kept}
        if not things:
            return None
        request.emptied += _names(things.values(), request)
        for thing in things.values():
            empty(thing, request.where)
        things.clear()
        # The loop variable would keep the last one of them.
        thing = None
        with lent(request.graphs):
            gc.collect()
        return ""

    def _things(self, request: ReleaseRequest) -> Iterator[Any]:
        alive = request.alive(*_EMPTIED)
        if request.hollow:
            spared = parts_of_others(alive) | parts_in_hand([one.reference() for one in alive])
            for one in alive:
                yield from (part for part in parts_of(one.reference()) if id(part) not in spared)
        elif request.block is not None:
            variables, cells = request.block.variables()
            free = held_by_nobody_else(variables, cells)
            if free is None:
                request.notes.append("the block has too many objects to find what else holds them")
            yield from (one.reference() for one in alive if one.identity in (free or {}))


def _names(things: Iterable[Any], request: ReleaseRequest) -> list[str]:
    """What the reader knows by name; parts are told by what they are part of."""
    kinds = [(thing, living.kind_of(thing)) for thing in things]
    watched = [living.Watched.of(thing, kind) for thing, kind in kinds if kind in _TOLD]
    who = "you still refer to it" if request.hollow else "a variable of the block refers to it"
    return [f"{one.what}; {who}" for one in outermost(watched)]
