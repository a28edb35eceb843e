"""What would be free if a few variables were gone: the collector's own sum, for a few objects.

Of each object below the variables all references are counted. Those from other objects below,
and from the variables, are taken off; an object with some left over is held by somebody else,
and so is all that it reaches. Whatever cannot be seen counts as held: nothing is lost by a
doubt.
"""

import gc
import sys
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from types import BuiltinFunctionType, CellType, CodeType, FrameType, ModuleType
from typing import Any

from lowwater.agent.census.instances import objects_of
from lowwater.agent.census.roots import namespace

# More objects than a large model has once its compiled functions are gone.
_MOST = 400_000
_NOT_ENTERED = (type, ModuleType, FrameType, CodeType, BuiltinFunctionType)


def held_by_nobody_else(
    variables: Mapping[str, Any], cells: Collection[str] = ()
) -> dict[int, Any] | None:
    """The objects that only these variables hold, by identity; None where there are too many.

    Each variable counts as one reference to its value. Those named in `cells` are shared with
    inner functions, so that the reference is in a cell.
    """
    below, inner = _below([*variables.values(), *_cells_with(variables, cells)])
    if len(below) > _MOST:
        return None
    counts = _counted(below)
    # The mapping refers to each value, and so does the frame, directly or through a cell.
    known = inner + Counter(map(id, variables.values()))
    for name, value in variables.items():
        known[_cell_of_frame(value, below, counts - known) if name in cells else id(value)] += 1
    value = None  # a reference of our own would look like somebody else's
    return _without_held(below, [one for one in below if counts[one] > known[one]])


def _counted(below: Mapping[int, Any]) -> Counter[int]:
    """How often each object is referred to, apart from this dictionary."""
    ours = _count({0: []})[0]
    return Counter({identity: count - ours for identity, count in _count(below).items()})


def _count(below: Mapping[int, Any]) -> dict[int, int]:
    # The loop refers to each thing too, how often depends on the release of Python.
    return {identity: sys.getrefcount(thing) for identity, thing in below.items()}


def module_spaces() -> set[int]:
    """The identity of every module's dictionary: every function refers to one."""
    return {id(namespace(module)) for module in [*sys.modules.values()] if _is_module(module)}


def reached_from(roots: Iterable[Any], spaces: set[int] | None = None) -> set[int]:
    """The identity of these objects and of all that they reach.

    `spaces` are those of the modules, where somebody knows them already.
    """
    below, _ = _below(roots, spaces)
    return {*below}


def _below(
    roots: Iterable[Any], spaces: set[int] | None = None
) -> tuple[dict[int, Any], Counter[int]]:
    """All that these objects reach, and how often each is referred to from among them."""
    spaces = module_spaces() if spaces is None else spaces
    below = {id(root): root for root in roots if gc.is_tracked(root)}
    inner: Counter[int] = Counter()
    waiting = [*below.values()]
    while waiting and len(below) <= _MOST:
        for part in _parts(waiting.pop(), spaces):
            inner[id(part)] += 1
            if id(part) not in below:
                below[id(part)] = part
                waiting.append(part)
    return below, inner


def _parts(thing: Any, spaces: set[int]) -> Iterator[Any]:  # noqa: ANN401
    if issubclass(type(thing), _NOT_ENTERED) or id(thing) in spaces:
        return
    yield from filter(gc.is_tracked, gc.get_referents(thing))


def _cells_with(variables: Mapping[str, Any], cells: Collection[str]) -> list[CellType]:
    """The cells that hold the values which a frame shares with inner functions."""
    shared = {id(value) for name, value in variables.items() if name in cells}
    # Not by `gc.get_referrers`: it also hands out tuples that other threads are just filling.
    every = objects_of({id(CellType)}) if shared else []
    return [cell for cell in every if id(_content(cell)) in shared]


def _cell_of_frame(value: Any, below: Mapping[int, Any], surplus: Counter[int]) -> int:  # noqa: ANN401
    """The cell of this value that somebody refers to whom we cannot see: a frame cannot be seen.

    If there are several, one stays unexplained, and so the value counts as held.
    """
    cells = (key for key, thing in below.items() if type(thing) is CellType and surplus[key] > 0)
    return next((key for key in cells if _content(below[key]) is value), id(None))


def _content(cell: CellType) -> Any:  # noqa: ANN401
    try:
        return cell.cell_contents
    except ValueError:  # it is empty
        return cell


def _without_held(below: dict[int, Any], held: list[int]) -> dict[int, Any]:
    """Take out what is held, and all that it reaches."""
    free = dict(below)
    waiting = [free.pop(identity) for identity in held]
    while waiting:
        parts = {id(part) for part in gc.get_referents(waiting.pop())}
        waiting += [free.pop(identity) for identity in parts & free.keys()]
    return free


def _is_module(thing: Any) -> bool:  # noqa: ANN401
    return issubclass(type(thing), ModuleType)
