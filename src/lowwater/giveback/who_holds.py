"""The way from a variable of the program to what should have died."""

import gc
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from types import CellType, CodeType, FrameType, FunctionType, ModuleType
from typing import Any

from lowwater.census import edges
from lowwater.census.instances import kinds_that_refer_to
from lowwater.census.kinds import module_of, qualname_of
from lowwater.census.roots import modules_now, namespace, variables_of
from lowwater.giveback.holding import module_spaces
from lowwater.giveback.hollow import is_shell
from lowwater.giveback.living import Watched
from lowwater.giveback.place import is_users, line_of, shown
from lowwater.giveback.receipt import Survivor
from lowwater.giveback.trace import Root, trace_of

# A receipt must not take longer than the release: a holder far away stays unnamed.
_MOST_OBJECTS = 150_000
_MOST_REFERRERS = 3
_NOT_ENTERED = (ModuleType, FrameType, CodeType, str, bytes, int, float)
_ANY_OTHER = "the program holds it where we did not look"


def survivors(
    watched: Iterable[Watched],
    block: Mapping[str, Any] | None = None,
    spared: Mapping[tuple[str, int], str] | None = None,
    most: int = 10,
) -> tuple[Survivor, ...]:
    """Each that lives, with its holder; the program's own variables are looked at first.

    The variables of the `block` that has ended are looked at last: had nobody else held the
    object, it would have been emptied. Those that it has `spared` are told with the reason.
    """
    waiting = {one.identity: one for one in watched if one.is_alive}
    if not waiting:
        return ()
    found: dict[int, Survivor] = {}
    roots = [_with_reason(root, spared or {}) for root in _roots()]
    of_block = {(name, id(value)) for name, value in (block or {}).items()}
    others = [root for root in roots if (root.name, id(root.value)) not in of_block]
    # Again from the locals alone: the data of a module may have used up the first search.
    of_locals = [root for root in others if root.is_local]
    for some in (others, of_locals, roots) if of_block else (roots, of_locals):
        missing = {identity: one for identity, one in waiting.items() if identity not in found}
        found |= {key: _told(waiting[key], way) for key, way in _search(missing, some)}
    rest = [one for identity, one in waiting.items() if identity not in found]
    return (*found.values(), *(_unnamed(one) for one in rest))[:most]


def _search(
    waiting: dict[int, Watched], roots: list[Root]
) -> Iterator[tuple[int, list[tuple[str, Any]]]]:
    """Breadth first, so that the shortest way is found; each way begins with its root."""
    wanted, spaces = {*waiting}, module_spaces()
    seen: dict[int, tuple[Any, int | None, Root]] = {}
    queue: deque[int] = deque()
    for root in roots:
        if id(root.value) not in seen:
            seen[id(root.value)] = (root.value, None, root)
            queue.append(id(root.value))
    while queue and wanted:
        identity = queue.popleft()
        if identity in wanted:
            wanted.discard(identity)
            yield identity, [*_way(identity, seen)]
        thing, _, root = seen[identity]
        if len(seen) > _MOST_OBJECTS or id(thing) in spaces or not _is_entered(thing):
            continue
        for part in gc.get_referents(thing):
            if id(part) not in seen:
                seen[id(part)] = (part, identity, root)
                queue.append(id(part))


def _way(identity: int, seen: dict[int, tuple[Any, int | None, Root]]) -> Iterator[tuple[str, Any]]:
    chain: list[Any] = []
    at: int | None = identity
    while at is not None:
        chain.insert(0, seen[at][0])
        at = seen[at][1]
    yield "", seen[identity][2]
    chain = [chain[0], *(below for above, below in pairwise(chain) if not _is_inner(above, below))]
    yield from ((edges.label(above, below), below) for above, below in pairwise(chain))


def _is_inner(owner: Any, thing: Any) -> bool:  # noqa: ANN401
    """Whether this only carries what the owner calls by name: attributes, a closure."""
    if type(thing) is CellType or (type(owner) is FunctionType and owner.__closure__ is thing):
        return True
    try:
        return object.__getattribute__(owner, "__dict__") is thing
    except Exception:  # noqa: BLE001 - it has none, or its class answers as it likes
        return False


def _told(one: Watched, way: list[tuple[str, Any]]) -> Survivor:
    root: Root = way[0][1]
    return Survivor(one.what, root.held_by, root.where, trace_of(one, root, way[1:]))


def _unnamed(one: Watched) -> Survivor:
    thing = one.reference()
    if thing is None:
        return Survivor(one.what, "it died while we looked")
    kinds = {qualname_of(kind) for kind in kinds_that_refer_to(thing) if kind is not FrameType}
    told = ", ".join(sorted(kinds)[:_MOST_REFERRERS])
    return Survivor(one.what, f"held inside a library, by: {told}" if told else _ANY_OTHER)


def _with_reason(root: Root, spared: Mapping[tuple[str, int], str]) -> Root:
    why = spared.get((root.name, id(root.value)))
    return replace(root, held_by=f"`{root.name}` is {why}", needed=why) if why else root


def _roots() -> Iterator[Root]:
    yield from _locals()
    modules = modules_now(is_users, "lowwater").users
    for module in modules:
        space = namespace(module)
        for name, value in [*space.items()]:
            if type(name) is str and not name.startswith("__"):
                where = space.get("__file__")
                file = shown(where) if isinstance(where, str) else None
                told = f"`{name}` is still a variable of module `{space.get('__name__')}`"
                told = f"{told}, {file}" if file else told
                yield Root(name, told, file, value, f"module {space.get('__name__')}")


def _locals() -> Iterator[Root]:
    for innermost in [*sys._current_frames().values()]:  # noqa: SLF001 - documented
        frame: FrameType | None = innermost
        while frame is not None:
            if frame.f_code.co_flags & 1 and is_users(frame.f_code.co_filename):
                where, function = line_of(frame), frame.f_code.co_qualname
                for name, value in variables_of(frame).items():
                    told = f"`{name}` is still a local of `{function}()`, {where}"
                    yield Root(name, told, where, value, f"{function}()", is_local=True)
            frame = frame.f_back


def _is_entered(thing: Any) -> bool:  # noqa: ANN401
    kind = type(thing)
    if issubclass(kind, type):
        return is_users_class(thing)
    return gc.is_tracked(thing) and not issubclass(kind, _NOT_ENTERED) and not is_shell(thing)


def is_users_class(kind: type) -> bool:
    """Whether a class may keep something of the program's in its attributes."""
    # Asked past the class and its metaclass: both may be the program's.
    name = module_of(kind)
    module = sys.modules.get(name or "")
    file = namespace(module).get("__file__") if isinstance(module, ModuleType) else None
    return name == "__main__" or (type(file) is str and is_users(file))
