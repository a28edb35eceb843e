"""Names as Python resolves them: scopes, and chains such as `self.store[key]`."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

# A step to an item in the middle of a chain: `agents[0].memory` is `agents`, `[]`, `memory`.
ITEM = "[]"
# Written behind a name that stands for a bound method which adds: `push = memory.append`.
METHOD = "()"
# Rows of a table are reached through these.
_ROWS = frozenset("at iat iloc loc".split())


class Chain(NamedTuple):
    """How an expression reaches an object: names, then `depth` steps to items.

    A call counts as what is called: `Agent().memory` is `Agent`, `memory`.
    """

    names: tuple[str, ...]
    depth: int = 0
    key: str | None = None  # of the last item, where it is a constant

    @property
    def name(self) -> str:
        """The last name, by which a chain is found."""
        return self.names[-1]

    @property
    def without_key(self) -> "Chain":
        """The same for all keys."""
        return Chain(self.names, self.depth)

    @property
    def item(self) -> "Chain":
        """Any item of this."""
        return Chain(self.names, self.depth + 1)

    def is_same_object(self, other: "Chain | None") -> bool:
        """Whether both reach the same object; items of one container count as one."""
        return other is not None and self[:2] == other[:2]


class _Step(NamedTuple):
    inner: ast.expr
    name: str | None = None
    key: str | None = None


def chains_of(expression: ast.expr | None) -> list[Chain]:
    """What an expression may be: one chain, or one for each branch of `a if … else b`."""
    match expression:
        case None:
            return []
        case ast.IfExp(body=first, orelse=second):
            return chains_of(first) + chains_of(second)
        case ast.BoolOp(values=values):
            return [chain for value in values for chain in chains_of(value)]
    chain = chain_of(expression)
    return [chain] if chain else []


def chain_of(expression: ast.expr) -> Chain | None:
    """The names and items that lead to an object, or None where it is made on the spot."""
    if isinstance(expression, ast.Name):
        return Chain((expression.id,))
    names: list[str] = []
    key = None
    while not isinstance(expression, ast.Name):
        step = _last_step(expression)
        if step is None:
            return None
        if step.name:
            key = key if names else step.key
            names.append(step.name)
        expression = step.inner
    names.append(expression.id)
    depth = next(count for count, name in enumerate(names) if name != ITEM)
    return Chain(tuple(reversed(names[depth:])), depth, key)


def _last_step(expression: ast.expr) -> _Step | None:
    match expression:
        case ast.Attribute(value=inner, attr=name):
            return _Step(inner, None if name == "__class__" else name)
        case ast.Subscript(slice=key) if not isinstance(key, ast.Slice):
            return _Step(container_of(expression), ITEM, constant_key(key))
        case ast.Call():
            return _step_of_call(expression)
        case ast.Await(value=inner) | ast.NamedExpr(value=inner):
            return _Step(inner)
    return None


def _step_of_call(call: ast.Call) -> _Step:
    match call:
        case ast.Call(func=ast.Attribute(value=inner, attr="setdefault" | "get"), args=[key, *_]):
            return _Step(inner, ITEM, constant_key(key))
        case ast.Call(func=ast.Name(id="type"), args=[inner]):
            return _Step(inner)
        case ast.Call(func=ast.Name(id="getattr"), args=[inner, ast.Constant(value=str(name)), *_]):
            return _Step(inner, name)
    return _Step(call.func)


def container_of(item: ast.Subscript) -> ast.expr:
    """What an item is taken from; `frame.loc[row]` is an item of `frame`."""
    match item.value:
        case ast.Attribute(value=table, attr=attribute) if attribute in _ROWS:
            return table
    return item.value


def constant_key(key: ast.expr) -> str | None:
    """The key as text if it is the same in every pass."""
    match key:
        case ast.Constant(value=value):
            return repr(value)
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=value)):
            return f"-{value!r}"
    return None


class Imported(NamedTuple):
    """Where a name comes from: a module, or (`attribute`) something in it."""

    module: str
    attribute: str | None = None


@dataclass(slots=True, eq=False)
class Scope:
    """A module, class, function or comprehension, and the names that are bound in it."""

    kind: Literal["module", "class", "function", "comprehension"]
    name: str
    parent: "Scope | None" = None
    line: int = 0
    qualname: str = field(init=False)
    module: "Scope" = field(init=False)
    bound: set[str] = field(default_factory=set)
    global_names: set[str] = field(default_factory=set)
    nonlocal_names: set[str] = field(default_factory=set)
    imports: dict[str, Imported] = field(default_factory=dict)
    star_imports: list[str] = field(default_factory=list)
    parameters: tuple[str, ...] = ()
    receiver: str | None = None  # `self`, however a method calls it
    takes_arguments: bool = False  # besides the receiver
    bases: tuple[Chain, ...] = ()
    looked_up: set[Chain] = field(default_factory=set)
    handed_out: set[str] = field(default_factory=set)  # names in what it yields or returns
    is_generator: bool = False

    def __post_init__(self) -> None:
        self.module = self if self.parent is None else self.parent.module
        self.qualname = "" if self.parent is None else self.parent.qualname_of(self.name)

    @property
    def filename(self) -> str:
        """The file that it stands in."""
        return self.module.name

    @property
    def function(self) -> "Scope | None":
        """The `def` around it, itself included."""
        for scope in self.outwards():
            if scope.kind == "function" and scope.name != "<lambda>":
                return scope
        return None

    def qualname_of(self, name: str) -> str:
        """How Python calls a class or function of this name that is defined here."""
        match self.kind:
            case "module":
                return name
            case "class":
                return f"{self.qualname}.{name}"
        return f"{self.qualname}.<locals>.{name}"

    def outwards(self) -> Iterator["Scope"]:
        """This scope, the one around it, … and the module."""
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.parent

    def outside_comprehensions(self) -> "Scope":
        """The scope in which `:=` binds its name."""
        return next(scope for scope in self.outwards() if scope.kind != "comprehension")

    def binding(self, name: str) -> "Scope":
        """The scope whose variable is meant when this name is used here."""
        name = name.removesuffix(METHOD)
        for scope in self.outwards():
            if name in scope.global_names:
                return self.module
            is_visible = scope is self or scope.kind != "class"
            if is_visible and name in scope.bound and name not in scope.nonlocal_names:
                return scope
        return self.module
