"""One pass over the syntax of a file: scopes, what each name is bound to, and calls.

This pass visits every node, so it is written for speed: the questions are asked later, and only
about the few nodes that a rule has an interest in.
"""

import ast
from collections.abc import Iterator
from enum import Enum
from typing import Any, Final, NamedTuple, TypeAlias

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)
COMPREHENSIONS: Final = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
LOOPS: Final = (ast.For, ast.AsyncFor, ast.While, *COMPREHENSIONS)
_SCOPES: Final = frozenset({*FUNCTIONS, ast.Lambda, ast.ClassDef, *COMPREHENSIONS})


class How(Enum):
    """How a name gets its value."""

    VALUE = "the value itself"
    ITEM = "one item of the value"
    PART = "a part of the value, unpacked"
    ENTERED = "what `with` makes of the value"
    AUGMENTED = "changed by `+=` and the like"
    IMPORT = "an import"
    DEFINED = "a function or class"
    PARAMETER = "a parameter"
    EXCEPTION = "a caught exception"


class Binding(NamedTuple):
    """One place where a name, an attribute or an item gets a value.

    `path` is where in an unpacked item it is: `for i, (x, y) in …` has `x` at (1, 0).
    """

    how: How
    node: Any
    value: ast.expr | None = None
    path: tuple[int, ...] = ()


class Store(NamedTuple):
    """`base.name = value`, or `base[key] = value` where `name` is empty."""

    target: ast.Attribute | ast.Subscript
    binding: Binding


class SourceScope:
    """A file, class, function or comprehension: what is bound and called in it."""

    __slots__ = (
        "binds", "calls", "children", "deletes", "file", "foreign", "node", "nodes", "outer",
        "returns", "stars", "statements", "stores", "yields",
    )  # fmt: skip

    def __init__(self, node: ast.AST, outer: "SourceScope | None", file: Any) -> None:  # noqa: ANN401 - a `File`
        """An empty scope."""
        self.node, self.outer, self.file = node, outer, file
        node.scope = self  # type: ignore[attr-defined]
        self.binds: dict[str, list[Binding]] = {}
        self.calls: list[ast.Call] = []
        self.stores: list[Store] = []
        self.returns: list[ast.expr] = []
        self.deletes: list[ast.Delete] = []
        self.yields: list[ast.Yield | ast.YieldFrom] = []
        # `if`, `with`, `while`, `for`: the statements with a block.
        self.statements: list[ast.stmt] = []
        self.stars: list[ast.ImportFrom] = []
        self.foreign: set[str] = set()
        self.children: list[SourceScope] = []
        # All that is evaluated here.
        self.nodes: list[Any] = []

    @property
    def name(self) -> str:
        """The name of the class or function; empty where it has none."""
        return getattr(self.node, "name", "")

    @property
    def is_class(self) -> bool:
        """Whether its names are attributes."""
        return isinstance(self.node, ast.ClassDef)

    @property
    def is_function(self) -> bool:
        """Whether it is a `def`."""
        return isinstance(self.node, FUNCTIONS)

    @property
    def parameters(self) -> list[ast.arg]:
        """The parameters that are given by position, the first ones first, then by keyword."""
        if not isinstance(self.node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            return []
        given = self.node.args
        return [*given.posonlyargs, *given.args, *given.kwonlyargs]

    def inside(self) -> Iterator["SourceScope"]:
        """This scope and all that are within it."""
        yield self
        for child in self.children:
            yield from child.inside()

    def forget(self) -> None:
        """Undo the references from nodes to what is around: then the whole file is freed at once.

        The garbage collector would find it too, but that takes longer than parsing it did.
        """
        for scope in [*self.inside()]:
            scope.node.scope = None  # type: ignore[attr-defined]
            for node in scope.nodes:
                node.up = None
            scope.nodes = []
            scope.children = []

    def method(self, name: str) -> "SourceScope | None":
        """The function of this name that is defined right here; the last one counts."""
        found = [one for one in self.children if one.is_function and one.name == name]
        return found[-1] if found else None


_PLAIN: Final = (ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop)


def _children_by_type() -> dict[type, tuple[str, ...]]:
    skipped = {"ctx", "op", "ops", "id", "attr", "arg", "name", "names", "asname", "level", "kind",
               "type_comment", "type_params", "lineno", "module", "simple", "conversion",
               "is_async", "type_ignores", "kwd_attrs", "rest"}  # fmt: skip
    table = {}
    for kind in vars(ast).values():
        if isinstance(kind, type) and issubclass(kind, ast.AST):
            skip = skipped | ({"value"} if kind is ast.Constant else set())
            table[kind] = tuple(field for field in kind._fields if field not in skip)
    # What has a name and children of the same field name.
    table[ast.keyword] = ("value",)
    table[ast.arg] = ("annotation",)
    # `case True:` holds the value itself.
    table[ast.MatchSingleton] = ()
    return table


_CHILDREN: Final = _children_by_type()


def up(node: ast.AST) -> ast.AST | None:
    """The node around; None for the file itself."""
    return getattr(node, "up", None)


def around(node: ast.AST) -> Iterator[ast.AST]:
    """All nodes around, the nearest first."""
    outer = up(node)
    while outer is not None:
        yield outer
        outer = up(outer)


def scan(tree: ast.Module, file: Any) -> SourceScope:  # noqa: ANN401 - a `File`
    """The scope of a file, with all scopes within it."""
    top = SourceScope(tree, None, file)
    waiting: list[SourceScope] = [top]
    for scope in waiting:
        _fill(scope, waiting)
    return top


def _fill(scope: SourceScope, waiting: list[SourceScope]) -> None:
    root: Any = scope.node
    nodes: list[Any] = _roots(scope, root)
    scope.nodes = nodes
    for node in nodes:
        children, handler = _PLAN[node.__class__]
        if handler is not None:
            if handler is _enter:
                if node is not root:
                    nodes += _enter(scope, node, waiting)
                    continue
            else:
                handler(scope, node)
        for field in children:
            value = getattr(node, field, None)
            if value.__class__ is list:
                for child in value:
                    # Nobody asks what is around a constant, and they are many.
                    if child is not None and child.__class__ is not ast.Constant:
                        child.up = node
                        nodes.append(child)
            elif value is not None and value.__class__ is not ast.Constant:
                value.up = node
                nodes.append(value)


def _enter(scope: SourceScope, node: Any, waiting: list[SourceScope]) -> list[Any]:  # noqa: ANN401
    """A scope within: it has its turn later, and what belongs to it outside is visited now."""
    inner = SourceScope(node, scope, scope.file)
    scope.children.append(inner)
    waiting.append(inner)
    return _outside(node, scope)


def _roots(scope: SourceScope, root: Any) -> list[Any]:  # noqa: ANN401 - the node of a scope
    """What is evaluated inside a scope."""
    kind = root.__class__
    if kind is ast.Module or kind is ast.ClassDef:
        found = [*root.body]
    elif kind is ast.Lambda:
        found = [root.body]
        scope.returns.append(root.body)
    elif kind in COMPREHENSIONS:
        found = [*root.generators]
        found += [root.key, root.value] if kind is ast.DictComp else [root.elt]
    else:
        found = [*root.body]
    if kind is ast.Lambda or kind in FUNCTIONS:
        _bind_parameters(scope, root.args)
    for node in found:
        node.up = root
    return found


def _outside(node: Any, scope: SourceScope) -> list[Any]:  # noqa: ANN401 - the node of a scope
    """What belongs to a class or function, but is evaluated outside."""
    kind = node.__class__
    if kind in COMPREHENSIONS:
        return []
    found: list[Any] = []
    if kind is ast.ClassDef:
        found += [*node.decorator_list, *node.bases, *node.keywords]
        _bind(scope, node.name, Binding(How.DEFINED, node))
    else:
        given = node.args
        found += [*given.defaults, *(one for one in given.kw_defaults if one is not None)]
        if kind is not ast.Lambda:
            found += node.decorator_list
            _bind(scope, node.name, Binding(How.DEFINED, node))
    for child in found:
        child.up = node
    return found


def _bind(scope: SourceScope, name: str, binding: Binding) -> None:
    if name in scope.binds:
        scope.binds[name].append(binding)
    else:
        scope.binds[name] = [binding]


def _bind_parameters(scope: SourceScope, given: ast.arguments) -> None:
    for one in (*given.posonlyargs, *given.args, *given.kwonlyargs):
        one.up = given  # type: ignore[attr-defined]
        _bind(scope, one.arg, Binding(How.PARAMETER, one))
    for extra in (given.vararg, given.kwarg):
        if extra is not None:
            _bind(scope, extra.arg, Binding(How.PARAMETER, extra))


def _bind_target(scope: SourceScope, target: Any, binding: Binding) -> None:  # noqa: ANN401 - any target
    kind = target.__class__
    if kind is ast.Name:
        _bind(scope, target.id, binding)
    elif kind is ast.Attribute or kind is ast.Subscript:
        scope.stores.append(Store(target, binding))
    elif kind is ast.Starred:
        _bind_target(scope, target.value, binding._replace(how=How.VALUE))
    elif kind in (ast.Tuple, ast.List):
        _unpack(scope, target.elts, binding)


def _unpack(scope: SourceScope, targets: list[ast.expr], binding: Binding) -> None:
    value = binding.value
    is_pairwise = (
        binding.how is How.VALUE
        and isinstance(value, ast.Tuple | ast.List)
        and len(value.elts) == len(targets)
    )
    how = How.PART if binding.how is How.VALUE else binding.how
    for number, target in enumerate(targets):
        if is_pairwise:
            assert isinstance(value, ast.Tuple | ast.List)
            _bind_target(scope, target, binding._replace(value=value.elts[number]))
        else:
            _bind_target(scope, target, binding._replace(how=how, path=(*binding.path, number)))


def _assign(scope: SourceScope, node: ast.Assign) -> None:
    for target in node.targets:
        _bind_target(scope, target, Binding(How.VALUE, node, node.value))


def _annotated(scope: SourceScope, node: ast.AnnAssign) -> None:
    if node.value is not None:
        _bind_target(scope, node.target, Binding(How.VALUE, node, node.value))


def _augmented(scope: SourceScope, node: ast.AugAssign) -> None:
    _bind_target(scope, node.target, Binding(How.AUGMENTED, node, node.value))


def _named(scope: SourceScope, node: ast.NamedExpr) -> None:
    while isinstance(scope.node, COMPREHENSIONS) and scope.outer is not None:
        scope = scope.outer
    _bind(scope, node.target.id, Binding(How.VALUE, node, node.value))


def _for(scope: SourceScope, node: ast.For | ast.AsyncFor) -> None:
    scope.statements.append(node)
    _bind_target(scope, node.target, Binding(How.ITEM, node, node.iter))


def _comprehension(scope: SourceScope, node: ast.comprehension) -> None:
    _bind_target(scope, node.target, Binding(How.ITEM, node, node.iter))


def _with(scope: SourceScope, node: ast.With | ast.AsyncWith) -> None:
    scope.statements.append(node)
    for item in node.items:
        if item.optional_vars is not None:
            _bind_target(scope, item.optional_vars, Binding(How.ENTERED, node, item.context_expr))


def _import(scope: SourceScope, node: ast.Import | ast.ImportFrom) -> None:
    for alias in node.names:
        if alias.name == "*":
            assert isinstance(node, ast.ImportFrom)
            scope.stars.append(node)
            continue
        is_whole = isinstance(node, ast.Import) and alias.asname is None
        name = alias.name.partition(".")[0] if is_whole else alias.asname or alias.name
        _bind(scope, name, Binding(How.IMPORT, (node, alias)))


def _except(scope: SourceScope, node: ast.ExceptHandler) -> None:
    if node.name is not None:
        _bind(scope, node.name, Binding(How.EXCEPTION, node))


def _return(scope: SourceScope, node: ast.Return) -> None:
    if node.value is not None:
        scope.returns.append(node.value)


_HANDLERS: Final[dict[type, Any]] = {
    ast.Call: lambda scope, node: scope.calls.append(node),
    ast.Assign: _assign,
    ast.AnnAssign: _annotated,
    ast.AugAssign: _augmented,
    ast.NamedExpr: _named,
    ast.For: _for,
    ast.AsyncFor: _for,
    ast.While: lambda scope, node: scope.statements.append(node),
    ast.If: lambda scope, node: scope.statements.append(node),
    ast.comprehension: _comprehension,
    ast.With: _with,
    ast.AsyncWith: _with,
    ast.Import: _import,
    ast.ImportFrom: _import,
    ast.ExceptHandler: _except,
    ast.Return: _return,
    ast.Delete: lambda scope, node: scope.deletes.append(node),
    ast.Yield: lambda scope, node: scope.yields.append(node),
    ast.YieldFrom: lambda scope, node: scope.yields.append(node),
    ast.Global: lambda scope, node: scope.foreign.update(node.names),
    ast.Nonlocal: lambda scope, node: scope.foreign.update(node.names),
}
# For each type of node: the fields with nodes in them, and what is noted of it.
_PLAN: Final[dict[type, tuple[tuple[str, ...], Any]]] = {
    kind: (fields, _enter if kind in _SCOPES else _HANDLERS.get(kind))
    for kind, fields in _CHILDREN.items()
}
