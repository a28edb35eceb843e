"""The lines of a file that give a name its value: a variable of a scope, an attribute."""

import ast
from collections.abc import Iterator

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def variable_lines(tree: ast.Module, qualname: str, name: str) -> list[int]:
    """The lines that bind a variable of the module (without a `qualname`) or of a function.

    Those that bind it to a constant, as `model = None`, come first.
    """
    scope = next((node for called, node in _scopes(tree) if called == qualname), None)
    if scope is None:
        return []
    found = [*_bindings(scope, name)]
    if isinstance(scope, ast.Module):
        for _, inner in _scopes(tree):
            if any(isinstance(one, ast.Global) and name in one.names for one in _own(inner)):
                found += _bindings(inner, name)
    if not found and isinstance(scope, _FUNCTIONS):
        arguments = scope.args
        every = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
        return [one.lineno for one in every if one.arg == name]
    return _in_order(found)


def attribute_lines(tree: ast.Module, qualname: str, name: str) -> list[int]:
    """The lines inside a class that set an attribute of its instances, or of itself."""
    owner = next((node for called, node in _scopes(tree) if called == qualname), None)
    if not isinstance(owner, ast.ClassDef):
        return []
    found = [*_bindings(owner, name)]
    for statement in ast.walk(owner):
        targets = _targets(statement)
        if any(isinstance(one, ast.Attribute) and one.attr == name for one in targets):
            found.append((_is_plain(statement), statement.lineno))  # type: ignore[attr-defined]
    return _in_order(found)


def _in_order(found: list[tuple[bool, int]]) -> list[int]:
    return [line for _, line in sorted(found, key=lambda one: (not one[0], one[1]))]


def _bindings(scope: ast.AST, name: str) -> Iterator[tuple[bool, int]]:
    for node in _own(scope):
        targets = _targets(node)
        if any(isinstance(one, ast.Name) and one.id == name for one in targets):
            yield _is_plain(node), node.lineno  # type: ignore[attr-defined]


def _targets(node: ast.AST) -> Iterator[ast.AST]:
    """What a statement, or `:=`, gives a value to."""
    match node:
        case ast.Assign(targets=targets):
            yield from (part for target in targets for part in _parts(target))
        case ast.AnnAssign(target=target) | ast.AugAssign(target=target):
            yield target
        case ast.NamedExpr(target=target) | ast.For(target=target) | ast.AsyncFor(target=target):
            yield from _parts(target)
        case ast.With(items=items) | ast.AsyncWith(items=items):
            for item in items:
                yield from _parts(item.optional_vars) if item.optional_vars else ()


def _parts(target: ast.expr) -> Iterator[ast.AST]:
    """The names of `a, (b, *c)`; not what an item is set in."""
    if isinstance(target, ast.Tuple | ast.List):
        yield from (part for one in target.elts for part in _parts(one))
    elif isinstance(target, ast.Starred):
        yield from _parts(target.value)
    else:
        yield target


def _is_plain(node: ast.AST) -> bool:
    return isinstance(getattr(node, "value", None), ast.Constant)


def _own(scope: ast.AST) -> Iterator[ast.AST]:
    """All nodes of a scope but for those of the scopes inside it."""
    waiting = [*ast.iter_child_nodes(scope)]
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, _SCOPES):
            waiting += ast.iter_child_nodes(node)


def _scopes(tree: ast.Module) -> Iterator[tuple[str, ast.AST]]:
    """Functions and classes by their qualified names, and the module by an empty one."""
    waiting: list[tuple[str, str, ast.AST]] = [("", "", tree)]
    while waiting:
        called, prefix, scope = waiting.pop()
        yield called, scope
        for node in _own(scope):
            if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                inner = f"{prefix}{node.name}"
                is_class = isinstance(node, ast.ClassDef)
                waiting.append((inner, f"{inner}." if is_class else f"{inner}.<locals>.", node))
