"""Where a container lives that is reached through a parameter, or through another object."""

import ast
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from lowwater.check.additions import additions
from lowwater.check.bounds import bounds
from lowwater.check.lifetimes import given_in, is_older, is_self_older
from lowwater.check.lookup import argument
from lowwater.check.places import Place, place_of, root_of
from lowwater.check.rounds import Round
from lowwater.check.scopes import How, SourceScope
from lowwater.check.things import HEAVY

if TYPE_CHECKING:
    from lowwater.check.source import Source

_MOST_CALLS = 4


def home_of(source: "Source", container: ast.expr, repeated: Round) -> tuple[Place, Round] | None:
    """The container that a parameter stands for, and the round as its owner sees it."""
    place = place_of(container)
    for _ in range(_MOST_CALLS):
        if place is None or not is_parameter(place):
            break
        given, repeated = given_in(repeated, place.scope, place.name)
        place = None if given is None else place_of(given)
    if place is not None and is_parameter(place):
        return None
    if place is not None:
        is_object = place.is_attribute and (is_shared(place) or is_self_older(source, repeated))
        return replace(place, is_object=is_object), repeated
    return _of_object(source, root_of(container), repeated)


def _of_object(source: "Source", root: ast.expr, repeated: Round) -> tuple[Place, Round] | None:
    """`bus.listeners`: an attribute of an object that is older than the round."""
    if not isinstance(root, ast.Attribute) or not is_older(source, root.value, repeated):
        return None
    for thing in source.things(root.value):
        if thing.scope is not None and thing.scope.is_class:
            return Place(root.attr, thing.scope, is_attribute=True, is_object=True), repeated
    return None


def is_parameter(place: Place) -> bool:
    """Whether a name is given by the caller, and not bound again."""
    if place.is_attribute or not place.scope.is_function:
        return False
    return all(one.how is How.PARAMETER for one in place.scope.binds[place.name])


def is_shared(place: Place) -> bool:
    """Whether an attribute belongs to the class, and so to all of its objects."""
    if not place.is_attribute or place.name not in place.scope.binds:
        return False
    return not any(
        isinstance(store.target, ast.Attribute) and store.target.attr == place.name
        for scope in place.scope.inside()
        for store in scope.stores
    )


class GrownDefault(NamedTuple):
    """What adds to a default value, which all calls of a function share."""

    node: ast.expr | ast.stmt
    name: str
    function: SourceScope


def grown_defaults(source: "Source") -> Iterator[GrownDefault]:
    """The lists and dicts that are a default value, and that calls add data to."""
    for scope in source.scopes:
        for added in additions(scope):
            root = root_of(added.container)
            place = place_of(root)
            # What has one and the same key takes the place of what was there before.
            if (
                isinstance(added.key, ast.Constant)
                or place is None
                or not is_parameter(place)
                or not source.kinds(added.value) & HEAVY
            ):
                continue
            default = kept_default(place.scope, place.name)
            if default is not None and not _is_emptied(source, place):
                yield GrownDefault(added.node, place.name, place.scope)


def _is_emptied(source: "Source", place: Place) -> bool:
    """Whether the function empties it, or its callers give one of their own."""
    calls = source.names.calls_of_function(place.scope)
    if calls and all(argument(one, place.scope, place.name) is not None for one in calls):
        return True
    repeated = Round("call", place.scope.node)
    return any(bounds(source, scope, place, repeated) for scope in place.scope.inside())


def kept_default(function: SourceScope, name: str) -> ast.expr | None:
    """The list or dict that is the default of a parameter: all calls share it."""
    given = getattr(function.node, "args", None)
    if given is None:
        return None
    parameters = [*given.posonlyargs, *given.args]
    pairs = [*zip(parameters[-len(given.defaults) :], given.defaults, strict=False)]
    pairs += [*zip(given.kwonlyargs, given.kw_defaults, strict=True)]
    default: ast.expr | None
    for parameter, default in pairs:
        if parameter.arg == name and _is_empty_container(default):
            return default
    return None


def _is_empty_container(default: ast.expr | None) -> bool:
    if isinstance(default, ast.List | ast.Dict | ast.Set):
        return True
    if not isinstance(default, ast.Call) or default.args or default.keywords:
        return False
    return getattr(default.func, "id", "") in ("list", "dict", "set", "deque")
