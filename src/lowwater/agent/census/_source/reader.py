"""One pass over a file: which lines add to which container, and where containers are handed on."""

import ast

from lowwater.agent.census._source.additions import Addition, Certainty, Flow, Index, Span, Spot
from lowwater.agent.census._source.name_reader import Around, NameReader
from lowwater.agent.census._source.scopes import (
    METHOD,
    Chain,
    chain_of,
    chains_of,
    constant_key,
    container_of,
)
from lowwater.agent.census._source.unpacking import arguments_of, assigned_pairs, named_type
from lowwater.agent.census.adding import (
    adds_to,
    builds_on,
    grows_by_item,
    is_fresh,
    is_number,
    looks_itself_up,
    receiver_of_adding,
)

_SIMPLE = ast.Expr | ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Return | ast.Assert


def read_additions(tree: ast.Module, filename: str) -> Index:
    """Index a file; the tree is not needed any more afterwards."""
    return _Reader(filename).read(tree)


class _Reader(NameReader, ast.NodeVisitor):
    """Finds the lines that add."""

    def __init__(self, filename: str) -> None:
        super().__init__(filename)
        self._calls: dict[str, list[tuple[ast.Call, Chain, Around]]] = {}
        self._methods: set[str] = set()

    def read(self, tree: ast.Module) -> Index:
        super().read(tree)
        self._find_calls_of_methods()
        for name, imported in self.module.imports.items():
            if imported.attribute not in {None, name}:
                self.index.file_also_under(imported.attribute or "", name)
        return self.index

    # Assignments

    def visit_Assign(self, node: ast.Assign) -> None:
        for targets in node.targets:
            for target, value in assigned_pairs(targets, node.value):
                self._assign(node, target, value)
        self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        self.flow(node.target, named_type(node.annotation))
        if node.value is not None:
            self._assign(node, node.target, node.value)
        self.later([node.target, node.value])

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if isinstance(node.op, ast.Add | ast.BitOr):
            if not is_number(node.value):
                self._add(node, node.target)
            if isinstance(node.target, ast.Subscript):
                self._add(node, container_of(node.target), Certainty.MAY_GROW)
        self.generic_visit(node)

    def _assign(self, node: ast.stmt, target: ast.expr, value: ast.expr | None) -> None:
        if isinstance(target, ast.Subscript):
            self._assign_item(node, target, value)
        chain = chain_of(target)
        if chain is None or value is None:
            return
        self.flow(target, chains_of(value))
        method_of = receiver_of_adding(value)
        if method_of is not None:
            self._name_method(chain, method_of)
        elif builds_on(value, chain):
            self._add(node, target)
        elif not is_fresh(value) and not isinstance(target, ast.Subscript):
            self._add(node, target, Certainty.REBINDS)

    def _assign_item(self, node: ast.stmt, item: ast.Subscript, value: ast.expr | None) -> None:
        container = container_of(item)
        certainty = Certainty.GROWS if grows_by_item(item.slice) else Certainty.MAY_GROW
        is_result = value is not None and not is_fresh(value) and constant_key(item.slice) is None
        is_counting = value is not None and looks_itself_up(value, container, item.slice)
        self._add(node, container, certainty, stores_result=is_result and not is_counting)

    # Calls

    def visit_Call(self, node: ast.Call) -> None:
        is_memo = _is_call_of(node, "setdefault") and isinstance(self.around.statement, ast.Return)
        self._add(node, adds_to(node), stores_result=is_memo)
        if isinstance(node.func, ast.Attribute) and (is_memo or _is_call_of(node, "get")):
            self._note_lookup(node.func.value)
        callee = chain_of(node.func)
        if callee is not None:
            self._calls.setdefault(callee.name, []).append((node, callee, self.around))
            self._hand_over(callee, node)
        self.generic_visit(node)

    def _hand_over(self, callee: Chain, node: ast.Call) -> None:
        handed = [
            (argument, value)
            for argument, value in arguments_of(node)
            if isinstance(value, ast.Name | ast.Attribute | ast.Subscript)
        ]
        spot = _spot(node, self.around) if handed else None
        for argument, value in handed:
            # `callback=results.append`: whoever is given the method will add.
            self._add(value, receiver_of_adding(value))
            for source in chains_of(value):
                flow = Flow(source, self.scope, callee, self.scope, argument, spot)
                self.index.note_flow(flow)

    def _name_method(self, alias: Chain, container: ast.expr) -> None:
        self._methods.add(alias.name)
        method = _method_called(alias)
        for source in chains_of(container):
            self.index.note_flow(Flow(source, self.scope, method, self.scope))

    def _find_calls_of_methods(self) -> None:
        """`push = memory.append` makes `push(x)` add; only at the end are all such names known."""
        for name in self._methods:
            for call, callee, around in self._calls.get(name, ()):
                self.index.note_addition(Addition(_method_called(callee), _spot(call, around)))

    # Reading

    def visit_Return(self, node: ast.Return) -> None:
        function = self.scope
        if function.kind == "function":
            self.flow(function.name, chains_of(node.value), function.parent)
            function.handed_out.update(_handed_out(node.value))
        self.generic_visit(node)

    def visit_Yield(self, node: ast.Yield) -> None:
        function = self.scope.function
        if function is not None:
            function.is_generator = True
            function.handed_out.update(_handed_out(node.value))
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        for operator, container in zip(node.ops, node.comparators, strict=True):
            if isinstance(operator, ast.In | ast.NotIn):
                self._note_lookup(container)
        self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        is_read = isinstance(node.ctx, ast.Load)
        if is_read and (self.around.is_tried or isinstance(self.around.statement, ast.Return)):
            self._note_lookup(container_of(node))
        self.generic_visit(node)

    def _note_lookup(self, container: ast.expr) -> None:
        function = self.scope.function
        if function is not None:
            function.looked_up.update(chain.without_key for chain in chains_of(container))

    def _add(
        self,
        node: ast.expr | ast.stmt,
        container: ast.expr | None,
        certainty: Certainty = Certainty.GROWS,
        *,
        stores_result: bool = False,
    ) -> None:
        for receiver in chains_of(container):
            spot = _spot(node, self.around)
            added = _names_in(node) - {receiver.names[0]}
            self.index.note_addition(Addition(receiver, spot, certainty, stores_result, added))


def _spot(node: ast.expr | ast.stmt, around: Around) -> Spot:
    statement = around.statement
    begins_here = isinstance(statement, _SIMPLE) and statement.lineno == node.lineno
    whole = _span(statement) if statement and begins_here else None
    return Spot(around.scope, around.loops, _span(node), whole)


def _handed_out(value: ast.expr | None) -> frozenset[str]:
    """The variables that are given away whole: `rng.normal()` does not give away `rng`."""
    if value is None:
        return frozenset()
    called = {
        id(part)
        for call in ast.walk(value)
        if isinstance(call, ast.Call)
        for part in ast.walk(call.func)
    }
    parts = ast.walk(value)
    return frozenset(
        part.id for part in parts if isinstance(part, ast.Name) and id(part) not in called
    )


def _names_in(node: ast.AST) -> frozenset[str]:
    """The variables that a piece of source mentions."""
    return frozenset(part.id for part in ast.walk(node) if isinstance(part, ast.Name))


def _span(node: ast.expr | ast.stmt) -> Span:
    line, column = node.end_lineno, node.end_col_offset
    assert line is not None
    assert column is not None
    return Span(node.lineno, node.col_offset, line, column)


def _method_called(alias: Chain) -> Chain:
    return Chain((*alias.names[:-1], alias.name + METHOD))


def _is_call_of(call: ast.Call, method: str) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr == method and bool(call.args)
