"""Names are followed: what an expression may stand for, through assignments, classes and files."""

import ast
from collections.abc import Iterable, Iterator
from typing import Any, Final

from lowwater.check import library
from lowwater.check.project import File, Project
from lowwater.check.scopes import COMPREHENSIONS, Binding, How, SourceScope, Store, around
from lowwater.check.things import Thing, Things, ValueKind

# How many calls are followed one into the other, and how many bindings of one name are read.
_DEEPEST: Final = 40
_MOST_BINDINGS: Final = 12
_MOST_CALLERS: Final = 20
_UNKNOWN: Final[Things] = ()
_GENERATOR: Final = "generator "
_NUMBERS: Final = (int, float, complex, bool)
_PASS_ON: Final = ("builtins.abs", "copy.copy", "copy.deepcopy")
_WRAPPERS: Final = ("tensorflow.function", "jax.jit", "functools.partial", "tensorflow.v1.function")


class Resolver:
    """Answers what expressions of the project stand for; every answer is kept."""

    def __init__(self, project: Project) -> None:
        """Nothing is followed until somebody asks."""
        self._project = project
        self._known: dict[ast.AST, Things] = {}
        self._fields: dict[tuple[SourceScope, str], list[Binding]] = {}
        self._bases: dict[SourceScope, Things] = {}
        self._callers: dict[SourceScope, list[ast.Call]] = {}
        self._module_names: dict[tuple[str, str], Things] = {}
        self._depth = 0

    # -- expressions

    def things(self, node: ast.expr | None) -> Things:
        """All that an expression may stand for; empty where nothing is known."""
        if node is None:
            return _UNKNOWN
        found = self._known.get(node)
        if found is None:
            # Whoever asks for this again on the way finds nothing: a cycle adds nothing.
            self._known[node] = _UNKNOWN
            if self._depth >= _DEEPEST:
                del self._known[node]
                return _UNKNOWN
            self._depth += 1
            try:
                found = self._known[node] = _unique(self._read(node))
            finally:
                self._depth -= 1
        return found

    def kinds(self, node: ast.expr | None) -> frozenset[ValueKind]:
        """The kinds of all that an expression may stand for."""
        return frozenset(thing.kind for thing in self.things(node))

    def _read(self, node: ast.expr) -> Iterable[Thing]:
        reader = _READERS.get(node.__class__)
        return _UNKNOWN if reader is None else reader(self, node)

    def _constant(self, node: ast.Constant) -> Things:
        if isinstance(node.value, _NUMBERS):
            return (Thing(ValueKind.NUMBER),)
        return (Thing(ValueKind.TEXT),) if isinstance(node.value, str | bytes) else _UNKNOWN

    def _name(self, node: ast.Name) -> Iterable[Thing]:
        scope = scope_of(node)
        return self.named(node.id, scope)

    def named(self, name: str, scope: SourceScope) -> Things:
        """What a name stands for in a scope."""
        holder = binder(name, scope)
        if holder is None:
            starred = self._from_stars(name, scope)
            return starred or (Thing(ValueKind.FUNCTION, f"builtins.{name}"),)
        return self._of_bindings(holder.binds[name][-_MOST_BINDINGS:], holder)

    def _from_stars(self, name: str, scope: SourceScope) -> Things:
        top = scope.file.top
        for star in top.stars:
            dotted = star.module or ""
            file = self._module(dotted, top.file, star.level)
            if file is not None:
                found = self._in_module(file, name)
                if found:
                    return found
            elif library.is_library(dotted):
                return (self._library(f"{dotted}.{name}"),)
        return _UNKNOWN

    def _attribute(self, node: ast.Attribute) -> Iterable[Thing]:
        for owner in self.things(node.value):
            yield from self.attribute(owner, node.attr)

    def attribute(self, owner: Thing, name: str) -> Iterable[Thing]:
        """What `owner.name` stands for."""
        if owner.kind is ValueKind.MODULE:
            if owner.scope is not None:
                return self._in_module(owner.scope.file, name)
            return (self._library(f"{owner.name}.{name}"),)
        if owner.scope is not None and owner.scope.is_class:
            return self._field(owner, name)
        if owner.kind in (ValueKind.CLASS, ValueKind.FUNCTION) and owner.name:
            return (self._library(f"{owner.name}.{name}"),)
        kind = library.attribute_of(owner.kind, name)
        if kind is not None:
            return (Thing(kind, f"{owner.name}.{name}"),)
        return (Thing(ValueKind.METHOD, f"{owner.name}.{name}", of=owner),)

    def _field(self, owner: Thing, name: str) -> Iterator[Thing]:
        assert owner.scope is not None
        bindings = self.field_bindings(owner.scope, name)
        is_found = False
        for binding in bindings[-_MOST_BINDINGS:]:
            node = binding.node
            if binding.how is How.DEFINED and isinstance(node, ast.FunctionDef):
                is_found = True
                yield from self._bound(owner, node)
            else:
                found = self._of_binding(binding, owner.scope)
                is_found = is_found or bool(found)
                yield from found
        if not is_found and owner.kind is not ValueKind.INSTANCE:
            kind = library.attribute_of(owner.kind, name)
            what = f"{owner.name}.{name}"
            yield Thing(kind, what) if kind else Thing(ValueKind.METHOD, what, of=owner)

    def _bound(self, owner: Thing, node: ast.FunctionDef) -> Iterator[Thing]:
        for scope in self._scopes_of(owner):
            method = scope.method(node.name)
            if method is not None and method.node is node:
                if _is_property(node):
                    for value in method.returns:
                        yield from self.things(value)
                    return
                yield from self._decorated(node, Thing(ValueKind.METHOD, node.name, method, owner))
                return

    def _scopes_of(self, owner: Thing) -> list[SourceScope]:
        return [] if owner.scope is None else [owner.scope, *self.project_bases(owner.scope)]

    def field_bindings(self, cls: SourceScope, name: str) -> list[Binding]:
        """All places that give `self.name` a value, in the class and the project's bases of it."""
        key = (cls, name)
        if key not in self._fields:
            self._fields[key] = []
            found = [*_own_fields(cls, name)]
            if not any(one.how is How.DEFINED for one in found):
                for base in self.project_bases(cls):
                    found += _own_fields(base, name)
                    if any(one.how is How.DEFINED for one in found):
                        break
            self._fields[key] = found
        return self._fields[key]

    # -- classes

    def bases(self, cls: SourceScope) -> Things:
        """All classes that a class of the project descends from, as far as they are known."""
        if cls not in self._bases:
            self._bases[cls] = _UNKNOWN
            found: list[Thing] = []
            assert isinstance(cls.node, ast.ClassDef)
            for base in cls.node.bases:
                for thing in self.things(base):
                    found.append(thing)
                    if thing.scope is not None and thing.scope.is_class:
                        found += self.bases(thing.scope)
            self._bases[cls] = tuple(found)
        return self._bases[cls]

    def project_bases(self, cls: SourceScope) -> list[SourceScope]:
        """Those of its bases that are written in the project."""
        return [base.scope for base in self.bases(cls) if base.scope is not None]

    def instance(self, cls: SourceScope) -> Thing:
        """An object of a class of the project."""
        for base in self.bases(cls):
            kind = library.base_kind(base.name) if base.scope is None else None
            if kind is not None:
                return Thing(kind, cls.name, cls)
        return Thing(ValueKind.INSTANCE, cls.name, cls)

    # -- bindings

    def _of_bindings(self, bindings: Iterable[Binding], scope: SourceScope) -> Things:
        return _unique(thing for one in bindings for thing in self._of_binding(one, scope))

    def _of_binding(self, binding: Binding, scope: SourceScope) -> Things:
        how = binding.how
        if how in (How.VALUE, How.AUGMENTED, How.ENTERED):
            return self.things(binding.value)
        if how is How.ITEM:
            return self._item(binding.value, binding.path)
        if how is How.PART:
            return self._part(binding.value, binding.path)
        if how is How.EXCEPTION:
            return (Thing(ValueKind.EXCEPTION),)
        by_how = {How.IMPORT: self._imported, How.DEFINED: self._defined}
        return by_how.get(how, self._parameter)(binding, scope)

    def _item(self, value: ast.expr | None, path: tuple[int, ...]) -> Things:
        """One item of an iterated value, or what is in it at a path."""
        if isinstance(value, ast.Tuple | ast.List | ast.Set):
            return _unique(thing for one in value.elts for thing in self._part(one, path))
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
            name, given = value.func.id, value.args
            if name == "range":
                return (Thing(ValueKind.NUMBER, "range"),)
            if name == "enumerate" and given and path:
                return (
                    self._item(given[0], path[1:]) if path[0] else (Thing(ValueKind.NUMBER, name),)
                )
            if name == "zip" and path:
                return self._item(given[path[0]], path[1:]) if path[0] < len(given) else _UNKNOWN
            if name in ("sorted", "reversed", "list", "tuple", "tqdm") and given:
                return self._item(given[0], path)
        found = _unique(self._items_of(self.things(value)))
        return _unique(self._items_of(found)) if path else found

    def _part(self, value: ast.expr | None, path: tuple[int, ...]) -> Things:
        """What is at a path of an unpacked value."""
        while path and isinstance(value, ast.Tuple | ast.List) and path[0] < len(value.elts):
            value, path = value.elts[path[0]], path[1:]
        returned = self._returned(value, path) if path else _UNKNOWN
        things = self.things(value)
        for _ in path:
            things = _unique(self._items_of(things))
        return _unique((*returned, *things))

    def _returned(self, value: ast.expr | None, path: tuple[int, ...]) -> Things:
        """What is at a path of the tuples that a function of the project returns."""
        if not isinstance(value, ast.Call) or self._depth >= _DEEPEST:
            return _UNKNOWN
        self._depth += 1
        try:
            return _unique(
                thing
                for function in self.things(value.func)
                if function.scope is not None and function.scope.is_function
                for returned in function.scope.returns
                if isinstance(returned, ast.Tuple)
                for thing in self._part(returned, path)
            )
        finally:
            self._depth -= 1

    def _items_of(self, things: Things) -> Iterator[Thing]:
        for thing in things:
            if thing.kind in (ValueKind.ARRAY, ValueKind.ARRAYS):
                yield Thing(ValueKind.ARRAY, thing.name)
            elif thing.kind is ValueKind.TENSOR:
                yield thing
            elif thing.kind is ValueKind.DATASET and thing.scope is None:
                yield Thing(ValueKind.TENSOR, thing.name)
            elif thing.scope is not None and thing.name.startswith(_GENERATOR):
                for given in thing.scope.yields:
                    if isinstance(given, ast.Yield):
                        yield from self.things(given.value)

    def _imported(self, binding: Binding, scope: SourceScope) -> Things:
        node, alias = binding.node
        file: File = scope.file
        if isinstance(node, ast.Import):
            dotted = alias.name if alias.asname else alias.name.partition(".")[0]
            return self._module_thing(dotted, file, 0)
        base = node.module or ""
        if not node.level and library.is_library(base):
            return (self._library(f"{base}.{alias.name}"),)
        within = self._module(base, file, node.level)
        if within is not None:
            found = self._in_module(within, alias.name)
            if found:
                return found
        dotted = f"{base}.{alias.name}" if base else alias.name
        return self._module_thing(dotted, file, node.level)

    def _module_thing(self, dotted: str, file: File, level: int) -> Things:
        if not level and library.is_library(dotted):
            return (self._library(dotted),)
        found = self._module(dotted, file, level)
        if found is None:
            return _UNKNOWN if level else (Thing(ValueKind.MODULE, dotted),)
        return (Thing(ValueKind.MODULE, dotted, found.top),)

    def _module(self, dotted: str, file: File, level: int) -> File | None:
        if not level and library.is_library(dotted):
            return None
        return self._project.module(dotted, file.path, level)

    def _in_module(self, file: File, name: str) -> Things:
        key = (file.path, name)
        if key not in self._module_names:
            # ProjectModules that import a name from each other in a circle add nothing.
            self._module_names[key] = _UNKNOWN
            self._module_names[key] = self._find_in_module(file, name)
        return self._module_names[key]

    def _find_in_module(self, file: File, name: str) -> Things:
        top = file.top
        if name in top.binds:
            return self._of_bindings(top.binds[name][-_MOST_BINDINGS:], top)
        starred = self._from_stars(name, top)
        if starred or not file.is_package:
            return starred
        found = self._project.module(name, file.path, 1)
        return _UNKNOWN if found is None else (Thing(ValueKind.MODULE, name, found.top),)

    def _library(self, dotted: str) -> Thing:
        name = library.canonical(dotted)
        last = name.rpartition(".")[2]
        if last[:1].isupper():
            return Thing(ValueKind.CLASS, name)
        return Thing(ValueKind.MODULE if "." not in name else ValueKind.FUNCTION, name)

    def _defined(self, binding: Binding, _: SourceScope) -> Things:
        node = binding.node
        inner = _own_scope(node)
        if inner is None:
            return _UNKNOWN
        if isinstance(node, ast.ClassDef):
            return (Thing(ValueKind.CLASS, node.name, inner),)
        return tuple(self._decorated(node, Thing(ValueKind.FUNCTION, node.name, inner)))

    def _decorated(self, node: Any, thing: Thing) -> Iterator[Thing]:  # noqa: ANN401 - a function
        for decorator in node.decorator_list:
            call = decorator if isinstance(decorator, ast.Call) else None
            for made in self.things(call.func if call else decorator):
                if library.made_by(made.name) is ValueKind.TRACED and made.scope is None:
                    yield Thing(ValueKind.TRACED, node.name, thing.scope, made)
                    return
        yield thing

    def _parameter(self, binding: Binding, scope: SourceScope) -> Things:
        """`self` is known; of the rest, only what a default value tells."""
        node = binding.node
        if not scope.is_function:
            return _UNKNOWN
        cls = scope.outer
        parameters = scope.parameters
        if cls is not None and cls.is_class and parameters and parameters[0] is node:
            assert isinstance(scope.node, ast.FunctionDef | ast.AsyncFunctionDef)
            decorators = {getattr(one, "id", "") for one in scope.node.decorator_list}
            if "classmethod" in decorators:
                return (Thing(ValueKind.CLASS, cls.name, cls),)
            return _UNKNOWN if "staticmethod" in decorators else (self.instance(cls),)
        return self._given(binding.node, scope)

    def _given(self, parameter: ast.arg, function: SourceScope) -> Things:
        """What the calls in the same file give for a parameter."""
        if parameter not in self._known:
            self._known[parameter] = _UNKNOWN
            found = [
                thing
                for call in self.calls_of_function(function)
                for thing in self.things(argument(call, function, parameter.arg))
            ]
            self._known[parameter] = _unique(found)
        return self._known[parameter]

    def calls_of_function(self, function: SourceScope) -> list[ast.Call]:
        """The calls of a function or method in its own file; of `__init__`, those of its class."""
        if function not in self._callers:
            self._callers[function] = []
            self._callers[function] = [*self._find_callers(function)]
        return self._callers[function]

    def _find_callers(self, function: SourceScope) -> Iterator[ast.Call]:
        is_init = function.name == "__init__"
        wanted = function.outer if is_init and function.outer is not None else function
        by_name = self._calls_by_name(function.file)
        calls = by_name.get(wanted.name, [])
        if function.name == "__call__" and function.outer is not None:
            # `Scorer(scale)(x)`: an object that is called where it is made.
            yield from (
                call
                for call in by_name.get("", [])[:_MOST_CALLERS]
                if any(thing.scope is function.outer for thing in self.things(call.func))
            )
            return
        for call in calls[:_MOST_CALLERS]:
            if any(_is_of(thing, wanted) for thing in self.things(call.func)):
                yield call

    def _calls_by_name(self, file: File) -> dict[str, list[ast.Call]]:
        found = file.names.get("calls")
        if found is None:
            found = file.names["calls"] = {}
            for scope in file.top.inside():
                for call in scope.calls:
                    func = call.func
                    name = func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")
                    found.setdefault(name, []).append(call)
        return found

    # -- calls

    def _call(self, node: ast.Call) -> Iterator[Thing]:
        for thing in self.things(node.func):
            yield from self.called(thing, node)

    def called(self, thing: Thing, node: ast.Call) -> Iterable[Thing]:
        """What a call of a thing gives."""
        if thing.scope is not None:
            return self._called_here(thing, node)
        if thing.kind is ValueKind.METHOD:
            return self._called_method(thing, node)
        if thing.kind in (ValueKind.FUNCTION, ValueKind.CLASS, ValueKind.MODULE):
            return self._called_library(thing, node)
        return self._called_object(thing, node)

    def _called_here(self, thing: Thing, node: ast.Call) -> Iterable[Thing]:
        scope = thing.scope
        assert scope is not None
        if scope.is_class:
            if thing.kind is ValueKind.CLASS:
                return (self.instance(scope),)
            return self._called_instance(thing, node)
        if scope.yields:
            return (Thing(ValueKind.OTHER, f"{_GENERATOR}{scope.name}", scope),)
        found = [one for value in scope.returns for one in self.things(value)]
        if thing.kind is ValueKind.TRACED:
            return found or (Thing(ValueKind.TENSOR, thing.name),)
        return found

    def _called_instance(self, thing: Thing, node: ast.Call) -> Iterable[Thing]:
        assert thing.scope is not None
        if thing.kind in (ValueKind.MODEL, ValueKind.LAYER):
            return self._called_object(Thing(thing.kind, thing.name), node)
        own = next(iter(self._field(thing, "__call__")), None)
        return self._called_here(own, node) if own is not None and own.scope is not None else ()

    def _called_object(self, thing: Thing, node: ast.Call) -> Things:
        if thing.kind in (ValueKind.MODEL, ValueKind.LAYER):
            given = self.kinds(node.args[0]) if node.args else frozenset()
            if ValueKind.SYMBOLIC in given:
                return (Thing(ValueKind.SYMBOLIC, thing.name),)
            if thing.kind is ValueKind.MODEL:
                return (Thing(ValueKind.TENSOR, thing.name),)
            return (Thing(ValueKind.TENSOR, thing.name),) if ValueKind.TENSOR in given else _UNKNOWN
        return _UNKNOWN

    def _called_method(self, thing: Thing, node: ast.Call) -> Things:
        assert thing.of is not None
        method = thing.last_name
        if method in ("get", "pop") and thing.of.kind is ValueKind.CONTAINER:
            return _UNKNOWN
        if library.draws(thing.of.name, method):
            return (Thing(ValueKind.ARRAY, thing.name),) if _has_size(node, method) else _UNKNOWN
        if library.flows(thing.of.name, method):
            return (Thing(ValueKind.DATASET, thing.name),)
        kind = library.by_method(thing.of.kind, method, has_axis=_has_axis(node, method))
        return _UNKNOWN if kind is None else (Thing(kind, thing.name),)

    def _called_library(self, thing: Thing, node: ast.Call) -> Things:
        name = thing.name
        if name in _WRAPPERS and node.args:
            return self._wrapped(name, node.args[0])
        if name in _PASS_ON and node.args:
            return self.things(node.args[0])
        if library.is_reduction(name):
            return (Thing(ValueKind.ARRAY if _has_axis(node, "") else ValueKind.NUMBER, name),)
        if name in ("builtins.list", "builtins.tuple", "builtins.dict") and node.args:
            return (Thing(ValueKind.CONTAINER, name), *self._heavy(node.args[0]))
        kind = library.made_by(name)
        if kind is ValueKind.CONTAINER and _is_bounded(node, thing.last_name):
            kind = ValueKind.BOUNDED
        return _UNKNOWN if kind is None else (Thing(kind, name),)

    def _wrapped(self, name: str, node: ast.expr) -> Things:
        """What `tf.function(f)` or `partial(f, …)` gives."""
        inside = self.things(node)
        if name == "functools.partial":
            return inside
        wrapper = Thing(ValueKind.FUNCTION, name)
        known = tuple(Thing(ValueKind.TRACED, one.last_name, one.scope, wrapper) for one in inside)
        return known or (Thing(ValueKind.TRACED, name, of=wrapper),)

    def _heavy(self, node: ast.expr) -> Iterator[Thing]:
        for thing in self.things(node):
            if thing.kind in (ValueKind.ARRAY, ValueKind.ARRAYS, ValueKind.TENSOR):
                yield Thing(ValueKind.ARRAYS, thing.name)

    # -- the rest of the expressions

    def _operation(self, node: ast.BinOp) -> Iterable[Thing]:
        left, right = self.things(node.left), self.things(node.right)
        kinds = {thing.kind for thing in (*left, *right)}
        for kind in (ValueKind.SYMBOLIC, ValueKind.TENSOR, ValueKind.VARIABLE, ValueKind.ARRAY):
            if kind in kinds:
                result = ValueKind.TENSOR if kind is ValueKind.VARIABLE else kind
                name = next(one.name for one in (*left, *right) if one.kind is kind)
                return (Thing(result, name),)
        if left and right and kinds <= {ValueKind.NUMBER}:
            return (Thing(ValueKind.NUMBER),)
        if ValueKind.TEXT in kinds:
            return (Thing(ValueKind.TEXT),)
        # A number with something unknown: often a number, and never said to be one.
        return (Thing(ValueKind.CONTAINER),) if ValueKind.CONTAINER in kinds else _UNKNOWN

    def _unary(self, node: ast.UnaryOp) -> Things:
        return (
            (Thing(ValueKind.NUMBER),)
            if isinstance(node.op, ast.Not)
            else self.things(node.operand)
        )

    def _either(self, node: ast.IfExp) -> Things:
        return (*self.things(node.body), *self.things(node.orelse))

    def _bool(self, node: ast.BoolOp) -> Iterator[Thing]:
        for value in node.values:
            yield from self.things(value)

    def _compare(self, node: ast.Compare) -> Iterator[Thing]:
        operands = [thing for one in (node.left, *node.comparators) for thing in self.things(one)]
        heavy = [thing for thing in operands if thing.kind in (ValueKind.ARRAY, ValueKind.TENSOR)]
        yield heavy[0] if heavy else Thing(ValueKind.NUMBER)

    def _collection(self, node: ast.List | ast.Set | ast.Tuple) -> Iterator[Thing]:
        yield Thing(ValueKind.CONTAINER, type(node).__name__.lower())
        for value in node.elts:
            yield from self._held(value)

    def _mapping(self, node: ast.Dict) -> Iterator[Thing]:
        yield Thing(ValueKind.CONTAINER, "dict")
        for value in node.values:
            yield from self._held(value)

    def _held(self, value: ast.expr) -> Iterator[Thing]:
        """What a display passes on of its items: those whose memory counts."""
        for thing in self.things(value):
            if thing.kind in (ValueKind.ARRAY, ValueKind.ARRAYS, ValueKind.TENSOR):
                yield Thing(ValueKind.ARRAYS, thing.name)
            elif thing.kind in (
                ValueKind.MODEL,
                ValueKind.HISTORY,
                ValueKind.TAPE,
                ValueKind.EXCEPTION,
            ):
                yield thing

    def _comprehended(self, node: Any) -> Iterator[Thing]:  # noqa: ANN401 - any comprehension
        yield Thing(ValueKind.CONTAINER, "comprehension")
        yield from self._held(node.value if isinstance(node, ast.DictComp) else node.elt)

    def _item_of(self, node: ast.Subscript) -> Iterator[Thing]:
        for thing in self.things(node.value):
            if thing.kind is ValueKind.ARRAYS:
                is_part = isinstance(node.slice, ast.Slice)
                yield Thing(ValueKind.ARRAYS if is_part else ValueKind.ARRAY, thing.name)
            elif thing.kind in (ValueKind.ARRAY, ValueKind.TENSOR, ValueKind.SYMBOLIC):
                yield thing
            elif thing.kind is ValueKind.CONTAINER and isinstance(node.slice, ast.Slice):
                yield Thing(ValueKind.BOUNDED)

    def _lambda(self, node: ast.Lambda) -> Iterator[Thing]:
        scope = _own_scope(node)
        if scope is not None:
            yield Thing(ValueKind.FUNCTION, "lambda", scope)

    def _walrus(self, node: ast.NamedExpr) -> Things:
        return self.things(node.value)

    def _awaited(self, node: ast.Await | ast.Starred) -> Things:
        return self.things(node.value)

    def _text(self, _: ast.expr) -> Things:
        return (Thing(ValueKind.TEXT),)


def _is_of(thing: Thing, wanted: SourceScope) -> bool:
    """Whether it is this function or class, wrapped or not."""
    return thing.scope is wanted and thing.kind in (
        ValueKind.FUNCTION, ValueKind.CLASS, ValueKind.METHOD, ValueKind.TRACED,
    )  # fmt: skip


def argument(call: ast.Call, function: SourceScope, name: str) -> ast.expr | None:
    """What a call gives for a parameter; None where it gives nothing, or by `*`."""
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
    names = [one.arg for one in function.parameters]
    if name not in names:
        return None
    outer = function.outer
    is_method = outer is not None and outer.is_class and not _is_static(function)
    at = names.index(name) - (1 if is_method else 0)
    has_star = any(isinstance(one, ast.Starred) for one in call.args[: at + 1])
    return None if has_star or not 0 <= at < len(call.args) else call.args[at]


def _is_static(function: SourceScope) -> bool:
    decorators = getattr(function.node, "decorator_list", ())
    return any(isinstance(one, ast.Name) and one.id == "staticmethod" for one in decorators)


def scope_of(node: ast.AST) -> SourceScope:
    """The scope that a node of a file is evaluated in."""
    inner: ast.AST = node
    for outer in around(node):
        scope: SourceScope | None = getattr(outer, "scope", None)
        if scope is not None and not _is_outside(inner, outer):
            return scope
        inner = outer
    msg = f"{node!r} is in no file"
    raise LookupError(msg)


def _is_outside(child: ast.AST, owner: Any) -> bool:  # noqa: ANN401 - the node of a scope
    """Decorators, bases and defaults are evaluated around the scope that they stand at."""
    if isinstance(owner, ast.ClassDef):
        return child in owner.decorator_list or child in owner.bases or child in owner.keywords
    if isinstance(owner, ast.FunctionDef | ast.AsyncFunctionDef):
        given = owner.args
        return (
            child in owner.decorator_list or child in given.defaults or child in given.kw_defaults
        )
    return isinstance(owner, ast.Lambda) and child is not owner.body


def binder(name: str, scope: SourceScope) -> SourceScope | None:
    """The scope whose name this is; None where no scope of the file binds it."""
    first, here = True, scope
    while True:
        if name in here.binds and name not in here.foreign and (first or not here.is_class):
            return here
        if here.outer is None:
            return None
        first = first and isinstance(here.node, COMPREHENSIONS)
        here = here.outer


def _own_scope(node: ast.AST) -> SourceScope | None:
    """The scope of a class, function or lambda."""
    found: SourceScope | None = getattr(node, "scope", None)
    return found


def _own_fields(cls: SourceScope, name: str) -> Iterator[Binding]:
    yield from cls.binds.get(name, ())
    for store in stores_of_self(cls):
        if isinstance(store.target, ast.Attribute) and store.target.attr == name:
            yield store.binding


def stores_of_self(cls: SourceScope) -> Iterator[Store]:
    """All `self.name = …` in the methods of a class."""
    for method in cls.children:
        own = self_name(method)
        if own is None:
            continue
        for scope in method.inside():
            for store in scope.stores:
                base = store.target.value
                if isinstance(base, ast.Name) and base.id == own:
                    yield store


def self_name(method: SourceScope) -> str | None:
    """The name of the first parameter of a method."""
    if not method.is_function or not method.parameters:
        return None
    return method.parameters[0].arg


def _is_property(node: ast.FunctionDef) -> bool:
    return any(
        (isinstance(one, ast.Name) and one.id in ("property", "cached_property"))
        or (isinstance(one, ast.Attribute) and one.attr == "cached_property")
        for one in node.decorator_list
    )


def _has_axis(node: ast.Call, method: str) -> bool:
    """Whether a reduction leaves an array: it is given an axis."""
    first = 0 if method else 1
    is_given = any(one.arg in ("axis", "dim") and not _is_none(one.value) for one in node.keywords)
    return is_given or len(node.args) > first


def _has_size(node: ast.Call, method: str) -> bool:
    """Whether more than one number is drawn: `rng.normal(size=n)`, `rng.random((3, 4))`."""
    is_given = any(
        one.arg in ("size", "shape") and not _is_none(one.value) for one in node.keywords
    )
    # The only thing that these are given is how many.
    is_given = is_given or (method in ("random", "standard_normal") and bool(node.args))
    return is_given or any(isinstance(one, ast.Tuple | ast.List) for one in node.args)


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _is_bounded(node: ast.Call, last: str) -> bool:
    if last != "deque":
        return False
    is_given = any(one.arg == "maxlen" and not _is_none(one.value) for one in node.keywords)
    return is_given or len(node.args) > 1


def _unique(things: Iterable[Thing]) -> Things:
    seen: dict[tuple[ValueKind, str, SourceScope | None], Thing] = {}
    for thing in things:
        seen.setdefault((thing.kind, thing.name, thing.scope), thing)
    return tuple(seen.values())


_READERS: Final[dict[type, Any]] = {
    ast.Constant: Resolver._constant,  # noqa: SLF001 - the table of this class
    ast.Name: Resolver._name,  # noqa: SLF001
    ast.Attribute: Resolver._attribute,  # noqa: SLF001
    ast.Call: Resolver._call,  # noqa: SLF001
    ast.BinOp: Resolver._operation,  # noqa: SLF001
    ast.UnaryOp: Resolver._unary,  # noqa: SLF001
    ast.IfExp: Resolver._either,  # noqa: SLF001
    ast.BoolOp: Resolver._bool,  # noqa: SLF001
    ast.Compare: Resolver._compare,  # noqa: SLF001
    ast.List: Resolver._collection,  # noqa: SLF001
    ast.Tuple: Resolver._collection,  # noqa: SLF001
    ast.Set: Resolver._collection,  # noqa: SLF001
    ast.Dict: Resolver._mapping,  # noqa: SLF001
    ast.ListComp: Resolver._comprehended,  # noqa: SLF001
    ast.SetComp: Resolver._comprehended,  # noqa: SLF001
    ast.GeneratorExp: Resolver._comprehended,  # noqa: SLF001
    ast.DictComp: Resolver._comprehended,  # noqa: SLF001
    ast.Subscript: Resolver._item_of,  # noqa: SLF001
    ast.Lambda: Resolver._lambda,  # noqa: SLF001
    ast.NamedExpr: Resolver._walrus,  # noqa: SLF001
    ast.Await: Resolver._awaited,  # noqa: SLF001
    ast.Starred: Resolver._awaited,  # noqa: SLF001
    ast.JoinedStr: Resolver._text,  # noqa: SLF001
}
