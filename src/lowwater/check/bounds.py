"""What keeps a container from growing: it is emptied, renewed, limited, or asked for its length."""

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from lowwater.check.library import is_known
from lowwater.check.places import Place, is_at, root_of
from lowwater.check.rounds import Round
from lowwater.check.scopes import How, SourceScope, around
from lowwater.check.things import Thing, ValueKind

if TYPE_CHECKING:
    from lowwater.check.source import Source

_REMOVING: Final = frozenset(
    {"clear", "pop", "popleft", "popitem", "remove", "discard", "get_nowait", "reset"}
)


def is_bounded(source: "Source", place: Place, repeated: Round) -> bool:
    """Whether something empties the container, limits it, or asks for its length."""
    if place.is_attribute:
        made = source.names.field_bindings(place.scope, place.name)
    else:
        made = place.scope.binds[place.name]
    values = [one.value for one in made if one.how is How.VALUE]
    if any(ValueKind.BOUNDED in source.kinds(value) for value in values):
        return True
    if any(one.how is How.PARAMETER for one in made):
        return True
    if place.name not in source.bounded_names:
        return False
    return any(bounds(source, scope, place, repeated) for scope in source.scopes)


def bounded_names(source: "Source") -> frozenset[str]:
    """The last names of all that is emptied, renewed or measured anywhere: a quick first look."""
    found: list[ast.expr] = []
    for scope in source.scopes:
        found += [method.value for method in _removing(scope)]
        for call in scope.calls:
            if isinstance(call.func, ast.Name) and call.func.id == "len":
                found += call.args
        found += [root_of(target) for one in scope.deletes for target in one.targets]
        for store in scope.stores:
            found += [store.target, root_of(store.target)]
    return frozenset(
        one.attr if isinstance(one, ast.Attribute) else getattr(one, "id", "") for one in found
    )


def bounds(source: "Source", scope: SourceScope, place: Place, repeated: Round) -> bool:
    """Whether something in a scope empties the container, or limits it."""
    if any(_means(source, method.value, place) for method in _removing(scope)):
        return True
    for call in scope.calls:
        func = call.func
        is_len = isinstance(func, ast.Name) and func.id == "len" and len(call.args) == 1
        if is_len and is_at(call.args[0], place) and _is_asked(source, call, place):
            return True
    for statement in scope.deletes:
        if any(is_at(root_of(target), place) for target in statement.targets):
            return True
    return any(_is_renewed(store.target, store.binding.node, place, repeated)
               for store in scope.stores)  # fmt: skip


def _removing(scope: SourceScope) -> Iterator[ast.Attribute]:
    """The methods that remove: called, or handed on to be called, `partial(items.remove, x)`."""
    for node in scope.nodes:
        if isinstance(node, ast.Attribute) and node.attr in _REMOVING:
            yield node


def _means(source: "Source", node: ast.expr, place: Place) -> bool:
    """Whether an expression means this container, of `self` or of an object by another name."""
    root = root_of(node)
    if is_at(node, place) or not isinstance(root, ast.Attribute) or root.attr != place.name:
        return is_at(node, place)
    return place.is_attribute and any(
        thing.scope is place.scope for thing in source.things(root.value)
    )


def _is_asked(source: "Source", call: ast.Call, place: Place) -> bool:
    """Whether a length is compared: a program that asks for it has a limit in mind.

    Not where it only asks whether there is enough to read: `if len(window) >= 3: mean(window)`.
    """
    nearest = list(around(call))[:4]
    if not any(isinstance(outer, ast.Compare) for outer in nearest[:3]):
        return False
    asks = next((outer for outer in nearest if isinstance(outer, ast.If)), None)
    return asks is None or any(_may_limit(source, one, place) for one in ast.walk(asks))


def _may_limit(source: "Source", node: ast.AST, place: Place) -> bool:
    """Whether this, done or not by the length, may keep a container from growing."""
    if isinstance(node, ast.Break | ast.Continue | ast.Return | ast.Raise | ast.Delete):
        return True
    if isinstance(node, ast.Assign | ast.AugAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        return any(is_at(root_of(one), place) for one in targets)
    return isinstance(node, ast.Call) and not _only_reads(source, node)


def _only_reads(source: "Source", call: ast.Call) -> bool:
    """Whether it is a function of a library, which changes no container of the program."""
    things = source.things(call.func)
    return bool(things) and all(
        (thing.scope is None and thing.kind is ValueKind.FUNCTION and is_known(thing.name))
        or (thing.kind is ValueKind.METHOD and thing.of is not None and _is_reader(thing.of))
        for thing in things
    )


def _is_reader(owner: Thing) -> bool:
    """Whether the methods of an object leave the containers of the program as they are."""
    return owner.scope is None and owner.kind not in (ValueKind.CONTAINER, ValueKind.BOUNDED)


def _is_renewed(target: ast.expr, node: ast.AST, place: Place, repeated: Round) -> bool:
    """Whether the container is made anew in each round."""
    if isinstance(target, ast.Subscript):
        return isinstance(target.slice, ast.Slice) and is_at(target.value, place)
    if isinstance(node, ast.AugAssign) or not is_at(target, place):
        return False
    if repeated.is_loop and (not place.is_attribute or repeated.holds(node)):
        return repeated.holds(node)
    method = next(
        (one for one in around(node) if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)),
        None,
    )
    once = ["__init__", "on_train_begin", "set_model", "set_params", "__post_init__"]
    if not repeated.is_loop:
        # Of a callback, it is mostly called once, when training begins.
        once.append("reset")
    return method is not None and method.name not in once
