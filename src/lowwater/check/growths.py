"""Containers that grow: they outlive the round that adds to them, and nothing bounds them."""

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from lowwater.check.additions import Adding, additions, is_set
from lowwater.check.bounds import is_bounded
from lowwater.check.givers import is_handed_out
from lowwater.check.lookup import binder, scope_of
from lowwater.check.places import Place, place_of, root_of
from lowwater.check.rounds import Round
from lowwater.check.scopes import How, SourceScope, around
from lowwater.check.source_growth import SourceGrowth
from lowwater.check.things import HEAVY, HEAVY_OBJECTS, ValueKind

if TYPE_CHECKING:
    from lowwater.check.source import Source

_LISTS: Final = (ast.List, ast.ListComp, ast.BinOp)
# What is worth a question: numbers and texts are kept by every program.
_MATTERS: Final = HEAVY | HEAVY_OBJECTS | {
    ValueKind.INSTANCE, ValueKind.EXCEPTION, ValueKind.FUNCTION, ValueKind.LAYER,
    ValueKind.OPTIMIZER, ValueKind.TRACED, ValueKind.SESSION, ValueKind.GRAPH, ValueKind.VARIABLE,
}  # fmt: skip
# `np.append` makes a new array, and an array has its size: neither grows by what is put there.
# An object of the project has an `append` of its own, and that method is read by itself.
_NO_CONTAINERS: Final = frozenset(
    {ValueKind.MODULE, ValueKind.FUNCTION, ValueKind.CLASS, ValueKind.ARRAY, ValueKind.TENSOR,
     ValueKind.VARIABLE, ValueKind.INSTANCE}
)  # fmt: skip


def growths(source: "Source") -> list[SourceGrowth]:
    """All growths of a file, in the order of its lines."""
    found = [one for scope in source.scopes for one in _in_scope(source, scope)]
    return sorted(found, key=lambda one: (one.node.lineno, one.node.col_offset))


def _in_scope(source: "Source", scope: SourceScope) -> Iterator[SourceGrowth]:
    for added in additions(scope):
        node, container, value, key = added
        if place_of(container) is None and not isinstance(root_of(container), ast.Attribute):
            continue
        if source.kinds(container) & _NO_CONTAINERS:
            continue
        # A set of what was seen keeps it on purpose, to hand it out once.
        is_batch = key is None and not is_set(node) and is_handed_out(source, scope, value)
        if not (source.kinds(value) & _MATTERS or is_batch):
            continue
        found = _coarsest(source, node, container)
        if found is None:
            continue
        place, repeated = found
        if _has_a_place_for_each(source, added, place):
            continue
        if key is not None and not _is_new_key(source, key, repeated):
            continue
        if not is_bounded(source, place, repeated) and not happens_once(node, repeated):
            yield SourceGrowth(node, root_of(container), value, key, place, repeated, source)


def _has_a_place_for_each(source: "Source", added: Adding, place: Place) -> bool:
    """Whether what is added takes the place of an item: `results = [None] * n`."""
    is_item = isinstance(added.node, ast.Assign) and added.key is not None
    return is_item and any(isinstance(one, _LISTS) for one in _values(source, place))


def _values(source: "Source", place: Place) -> list[ast.expr | None]:
    """All that a container is bound to."""
    if place.is_attribute:
        made = source.names.field_bindings(place.scope, place.name)
    else:
        made = place.scope.binds[place.name]
    return [one.value for one in made if one.how is How.VALUE]


def _coarsest(source: "Source", node: ast.AST, container: ast.expr) -> tuple[Place, Round] | None:
    """The container, and the coarsest round that it outlives: the epoch, not the loop in it.

    Where it is made in a coarser round, all is dropped with that.
    """
    for repeated in reversed(source.rounds(node)):
        home = source.home_of(container, repeated)
        if home is not None:
            return (home[0], repeated) if _outlives(*home) else None
    return None


def _outlives(place: Place, repeated: Round) -> bool:
    """Whether a container is older than the round that adds to it."""
    if place.is_attribute:
        return place.is_object or all(
            _is_older(one.call.func, repeated) for one in repeated.through
        )
    if any(place.scope in one.function.inside() for one in repeated.through):
        return False
    if repeated.is_loop:
        made = [one.node for one in place.scope.binds[place.name] if one.how is not How.AUGMENTED]
        return bool(made) and not any(repeated.holds(_node(one)) for one in made)
    return place.scope.node not in _with_self(repeated.node)


def _is_older(func: ast.expr, repeated: Round) -> bool:
    """Whether the object whose method is called was there before the round."""
    if not isinstance(func, ast.Attribute):
        return False
    owner = root_of(func.value)
    if isinstance(owner, ast.Attribute):
        return isinstance(owner.value, ast.Name)
    if not isinstance(owner, ast.Name):
        return False
    holder = binder(owner.id, scope_of(owner))
    made = [] if holder is None else [one.node for one in holder.binds[owner.id]]
    return bool(made) and not any(repeated.holds(_node(one)) for one in made)


def _node(found: object) -> ast.AST:
    """An import is kept with its alias."""
    node = found[0] if isinstance(found, tuple) else found
    assert isinstance(node, ast.AST)
    return node


def _with_self(node: ast.AST) -> list[ast.AST]:
    scope: SourceScope | None = getattr(node, "scope", None)
    return [] if scope is None else [one.node for one in scope.inside()]


def _is_new_key(source: "Source", key: ast.expr, repeated: Round) -> bool:
    """Whether each round has a key of its own: it is the number of the round, or counted on."""
    if any(isinstance(one, ast.Mod) for one in ast.walk(key)):
        return False
    return source.changes(key, repeated)


def happens_once(node: ast.AST, repeated: Round) -> bool:
    """Whether an `if` around lets one round through: `if epoch == 3`."""
    for outer in around(node):
        if outer is repeated.node:
            return False
        if isinstance(outer, ast.If) and isinstance(outer.test, ast.Compare):
            is_plain = isinstance(outer.test.left, ast.Name | ast.Attribute)
            if is_plain and all(isinstance(op, ast.Eq | ast.Is) for op in outer.test.ops):
                return True
    return False
