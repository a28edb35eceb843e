"""The half of the reader that keeps track of scopes, loops, and what names are bound to."""

import ast
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from lowwater.agent.census._source.additions import Flow, Index
from lowwater.agent.census._source.scopes import Chain, Imported, Scope, chain_of, chains_of
from lowwater.agent.census._source.unpacking import loop_pairs, named_type
from lowwater.agent.syntax import Function

_Loop = ast.For | ast.AsyncFor
_Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
# All nodes but operators and contexts, which are many and say nothing here.
_TELLING = (
    ast.expr,
    ast.stmt,
    ast.keyword,
    ast.comprehension,
    ast.excepthandler,
    ast.withitem,
    ast.match_case,
    ast.pattern,
)


class Around(NamedTuple):
    """What stands around a node."""

    scope: Scope
    loops: int = 0
    is_tried: bool = False
    statement: ast.stmt | None = None


class NameReader(ast.NodeVisitor):
    """Visits every node once; with a stack of its own, for programs may be nested deeply."""

    def __init__(self, filename: str) -> None:
        self.module = Scope("module", filename)
        self.index = Index({"": self.module})
        self.around = Around(self.module)
        self._visitors: dict[type[ast.AST], Callable[[Any], None]] = {}
        self._pending: list[tuple[ast.AST, Around]] = []

    @property
    def scope(self) -> Scope:
        """The scope that the node is in."""
        return self.around.scope

    def read(self, tree: ast.Module) -> Index:
        """Visit all nodes, in no particular order."""
        self.later(tree.body)
        while self._pending:
            node, self.around = self._pending.pop()
            if isinstance(node, ast.stmt):
                self.around = self.around._replace(statement=node)
            self._visitor(type(node))(node)
        return self.index

    def _visitor(self, kind: type[ast.AST]) -> Callable[[Any], None]:
        if kind not in self._visitors:
            name = "visit_" + kind.__name__
            self._visitors[kind] = getattr(self, name, self.generic_visit)
        return self._visitors[kind]

    def later(self, nodes: Iterable[object], around: Around | None = None) -> None:
        """Visit these when their turn comes."""
        around = around or self.around
        self._pending += [(node, around) for node in nodes if isinstance(node, _TELLING)]

    def generic_visit(self, node: ast.AST) -> None:
        """Visit what is inside."""
        pending, around = self._pending, self.around
        for name in node._fields:
            part = getattr(node, name, None)
            if type(part) is list:
                self.later(part)
            elif isinstance(part, _TELLING):
                pending.append((part, around))

    def flow(
        self, target: ast.expr | str, sources: list[Chain], scope: Scope | None = None
    ) -> None:
        """Note that a target, by default one of this scope, may now be one of these objects."""
        chain = Chain((target,)) if isinstance(target, str) else chain_of(target)
        for source in sources if chain else []:
            assert chain is not None
            self.index.note_flow(Flow(source, self.scope, chain, scope or self.scope))

    # Scopes

    def visit_FunctionDef(self, node: Function) -> None:
        self.scope.bound.add(node.name)
        function = self._inner_function(node.name, node)
        if self.scope.kind == "class" and not _is_static(node):
            function.receiver = next(iter(function.parameters), None)
        function.takes_arguments = len(function.bound) > (function.receiver is not None)
        self.later(node.decorator_list)
        self.later(node.body, Around(function))

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self.visit_FunctionDef(node)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        function = self._inner_function("<lambda>", node)
        self.later([node.body], Around(function, statement=self.around.statement))

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.scope.bound.add(node.name)
        inner = self._inner_scope(Scope("class", node.name, self.scope, node.lineno))
        inner.bases = tuple(chain for base in node.bases for chain in chains_of(base))
        self.later([*node.decorator_list, *node.bases, *node.keywords])
        self.later(node.body, Around(inner))

    def visit_ListComp(self, node: _Comprehension, name: str = "<listcomp>") -> None:
        inner = self._inner_scope(Scope("comprehension", name, self.scope, node.lineno))
        self.around = self.around._replace(scope=inner, loops=self.around.loops + 1)
        for generator in node.generators:
            self._iterate(generator.target, generator.iter)
        self.generic_visit(node)

    def visit_SetComp(self, node: ast.SetComp) -> None:
        self.visit_ListComp(node, "<setcomp>")

    def visit_DictComp(self, node: ast.DictComp) -> None:
        self.visit_ListComp(node, "<dictcomp>")

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> None:
        self.visit_ListComp(node, "<genexpr>")

    def _inner_scope(self, scope: Scope) -> Scope:
        self.index.scopes[scope.qualname] = scope
        return scope

    def _inner_function(self, name: str, node: Function | ast.Lambda) -> Scope:
        inner = self._inner_scope(Scope("function", name, self.scope, node.lineno))
        given = node.args
        positional = [*given.posonlyargs, *given.args]
        inner.parameters = tuple(one.arg for one in [*positional, *given.kwonlyargs])
        inner.bound.update(inner.parameters)
        inner.bound.update(one.arg for one in (given.vararg, given.kwarg) if one)
        for one in [*positional, *given.kwonlyargs]:
            self.flow(one.arg, named_type(one.annotation), inner)
        for one, default in zip(reversed(positional), reversed(given.defaults), strict=False):
            self.flow(one.arg, chains_of(default), inner)
        self.later([*given.defaults, *given.kw_defaults])
        return inner

    # Loops and tries

    def visit_For(self, node: _Loop) -> None:
        self._iterate(node.target, node.iter)
        self.later([node.target, node.iter, *node.orelse])
        self.later(node.body, self.around._replace(loops=self.around.loops + 1))

    def visit_AsyncFor(self, node: ast.AsyncFor) -> None:
        self.visit_For(node)

    def visit_While(self, node: ast.While) -> None:
        self.later([node.test, *node.body], self.around._replace(loops=self.around.loops + 1))
        self.later(node.orelse)

    def visit_Try(self, node: ast.Try) -> None:
        self.later(node.body, self.around._replace(is_tried=True))
        self.later([*node.handlers, *node.orelse, *node.finalbody])

    def _iterate(self, target: ast.expr, source: ast.expr) -> None:
        for variable, container in loop_pairs(target, source):
            match container:
                case ast.Tuple(elts=items) | ast.List(elts=items):
                    self.flow(variable, [chain for item in items for chain in chains_of(item)])
                case ast.Name() | ast.Attribute() | ast.Subscript():
                    self.flow(variable, [chain.item for chain in chains_of(container)])

    # Names

    def visit_Name(self, node: ast.Name) -> None:
        if not isinstance(node.ctx, ast.Load):
            self.scope.bound.add(node.id)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        outside = self.scope.outside_comprehensions()
        outside.bound.add(node.target.id)
        self.flow(node.target, chains_of(node.value), outside)
        self.later([node.value])

    def visit_Constant(self, node: ast.Constant) -> None:
        """Nothing is inside."""

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        self._bind_and_go_on(node, node.name)

    def visit_MatchAs(self, node: ast.MatchAs) -> None:
        self._bind_and_go_on(node, node.name)

    def visit_MatchStar(self, node: ast.MatchStar) -> None:
        self._bind_and_go_on(node, node.name)

    def visit_MatchMapping(self, node: ast.MatchMapping) -> None:
        self._bind_and_go_on(node, node.rest)

    def _bind_and_go_on(self, node: ast.AST, name: str | None) -> None:
        if name is not None:
            self.scope.bound.add(name)
        self.generic_visit(node)

    def visit_Global(self, node: ast.Global) -> None:
        self.scope.global_names.update(node.names)
        self.module.bound.update(node.names)

    def visit_Nonlocal(self, node: ast.Nonlocal) -> None:
        self.scope.nonlocal_names.update(node.names)

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            top = alias.name.partition(".")[0]
            self._import(alias.asname or top, Imported(alias.name if alias.asname else top))

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        module = node.module or ""
        for alias in node.names:
            if alias.name == "*":
                self.scope.star_imports.append(module)
            else:
                self._import(alias.asname or alias.name, Imported(module, alias.name))

    def _import(self, name: str, imported: Imported) -> None:
        self.scope.bound.add(name)
        self.scope.imports[name] = imported


def _is_static(node: Function) -> bool:
    return any(
        isinstance(decorator, ast.Name) and decorator.id == "staticmethod"
        for decorator in node.decorator_list
    )
