"""The parts of a holder's path, and how people would name what it holds."""

from lowwater.causes import _kinds
from lowwater.model import Holder, Step
from lowwater.model.frameworks import package_of

_VARIABLES = frozenset({"local", "closure", "default", "argument"})


def above(holder: Holder) -> tuple[Step, ...]:
    """The way to the container, without it: empty where the root itself grew."""
    return holder.steps[: holder.container]


def container(holder: Holder) -> Step:
    """The object that grew."""
    return holder.steps[holder.container]


def below(holder: Holder) -> tuple[Step, ...]:
    """One of its new items, and the way to the heaviest part of that."""
    return holder.steps[holder.container + 1 :]


def owners(holder: Holder) -> tuple[Step, ...]:
    """Who has the container, the nearest first: plain lists and dicts in between are left out."""
    return tuple(step for step in reversed(above(holder)) if not _kinds.is_plain(step))


def leads_to_native(holder: Holder) -> bool:
    """Whether the new items keep more in memory than their Python objects tell."""
    return any(_kinds.is_native_backed(step) for step in (*below(holder), *holder.brings))


def name_of(holder: Holder) -> str:
    """`SavePredictions.saved`, `runs`, `Agent.memory['states']`, `load_batch.cache`."""
    return path_name(holder.steps[: holder.container + 1])


def path_name(steps: tuple[Step, ...]) -> str:
    """The last object of a path as the program would write it, from its nearest owner on."""
    backwards: list[str] = []
    for owner, step in zip(reversed(steps[:-1]), reversed(steps), strict=False):
        backwards.append(_written(step.edge))
        if not _kinds.is_plain(owner):
            return _owned_name(owner, "".join(reversed(backwards)), steps[-1])
    return "".join(reversed(backwards)).lstrip(".") or _kinds.class_name(steps[0].type)


def _owned_name(owner: Step, name: str, last: Step) -> str:
    if name.startswith("["):
        return f"{_owner_name(owner) or _kinds.class_name(owner.type)}{name}"
    return f"{_owner_name(owner)}{name}".lstrip(".") or _kinds.class_name(last.type)


def function_name(step: Step) -> str:
    """`load_batch`; a method keeps its class, an inner function loses where it is defined."""
    name = step.about.rpartition("<locals>.")[2] or _written(step.edge).strip(".")
    return name or _kinds.class_name(step.type)


def is_programs(holder: Holder) -> bool:
    """Whether the container is the program's own, wherever the path to it begins.

    A path from a running `fit` begins in the library and may well lead to a class of the program.
    """
    owner = next((one for one in owners(holder) if not _kinds.is_frame(one)), None)
    return holder.is_users or bool(holder.sites) or (owner is not None and owner.where is not None)


def is_in_framework(holder: Holder) -> bool:
    """Whether a framework has the container: then it has a cause of its own, or is unknown."""
    return any(map(_is_frameworks, above(holder)))


def _is_frameworks(step: Step) -> bool:
    is_module = _kinds.is_module(step) and package_of(step.about) in _kinds.LIBRARIES
    return is_module or _kinds.library_of(step) is not None


def global_of_library(holder: Holder) -> str | None:
    """The name of the library's own global variable that the path to the container begins with."""
    root, *steps = holder.steps[: holder.container + 1]
    is_librarys = _kinds.is_module(root) and package_of(root.about) in _kinds.LIBRARIES
    return steps[0].edge.lstrip("._") if is_librarys and steps else None


def line_of(holder: Holder) -> str | None:
    """The line that adds to it, else the nearest line of the program on the way there."""
    if holder.sites:
        return holder.sites[0].where
    return nearest_line(holder)


def nearest_line(holder: Holder) -> str | None:
    """The line of the nearest class, function or frame of the program on the way."""
    on_the_way = (*reversed(holder.steps[: holder.container + 1]), *below(holder))
    return next((step.where for step in on_the_way if step.where), None)


def _written(edge: str) -> str:
    """`local seen` and `closure seen` are written as `.seen`; a `__dict__` is not written."""
    if edge == ".__dict__":
        return ""
    kind, _, variable = edge.partition(" ")
    return f".{variable}" if variable and kind in _VARIABLES else edge


def _owner_name(owner: Step) -> str:
    """Variables of the main program and of calls are known by their own name alone."""
    if _kinds.is_frame(owner) or (_kinds.is_module(owner) and owner.about in ("", "__main__")):
        return ""
    if _kinds.is_module(owner) or _kinds.is_class(owner):
        return _kinds.class_name(owner.about)
    if _kinds.is_memo(owner) or _kinds.is_function(owner):
        return function_name(owner)
    return _kinds.class_name(owner.type)
