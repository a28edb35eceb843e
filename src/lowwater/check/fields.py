"""What the objects of a class have as attributes."""

import ast
from typing import TYPE_CHECKING

from lowwater.check.lookup import stores_of_self
from lowwater.check.scopes import SourceScope
from lowwater.check.things import HEAVY, Thing, ValueKind

if TYPE_CHECKING:
    from lowwater.check.source import Source


def leads_to(source: "Source", node: ast.expr | None, kind: ValueKind | str) -> Thing | None:
    """The thing of this kind that a value is, or that it has as an attribute."""
    for thing in source.things(node):
        found = _reached(source, thing, kind, hops=1)
        if found is not None:
            return found
    return None


def _reached(source: "Source", thing: Thing, kind: ValueKind | str, hops: int) -> Thing | None:
    if thing.kind == kind:
        return thing
    cls = thing.scope
    if not hops or cls is None or not cls.is_class or thing.kind is not ValueKind.INSTANCE:
        return None
    for name in fields_of(cls):
        for held in source.names.attribute(thing, name):
            if held.kind == kind:
                return held
    return None


def has_heavy_fields(source: "Source", cls: SourceScope) -> bool:
    """Whether the objects of a class have arrays, data sets or models, or are models."""
    own = source.names.instance(cls)
    heavy = HEAVY | {ValueKind.MODEL, ValueKind.DATASET}
    return own.kind in heavy or any(
        held.kind in heavy for name in fields_of(cls) for held in source.names.attribute(own, name)
    )


def fields_of(cls: SourceScope) -> set[str]:
    """The attributes that the methods of a class give its objects."""
    targets = [store.target for store in stores_of_self(cls)]
    return {one.attr for one in targets if isinstance(one, ast.Attribute)}
