"""Containers that grow: what adds to them, what they keep, and whether something bounds them."""

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

from lowwater.check.givers import is_data_set, is_handed_out
from lowwater.check.library import REDUCTIONS, is_known
from lowwater.check.names import binder, scope_of
from lowwater.check.rounds import Round
from lowwater.check.scopes import How, SourceScope, Store, around
from lowwater.check.things import HEAVY, HEAVY_OBJECTS, Thing, ValueKind

if TYPE_CHECKING:
    from lowwater.check.source import Source

# The method that adds -> which of its arguments is kept.
ADDING: Final = {
    "append": 0, "add": 0, "appendleft": 0, "insert": 1, "extend": 0, "extendleft": 0, "update": 0,
    "put": 0, "setdefault": 1,
}  # fmt: skip
_REMOVING: Final = frozenset(
    {"clear", "pop", "popleft", "popitem", "remove", "discard", "get_nowait", "reset"}
)
_MOST_STEPS: Final = 6
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
_WHAT: Final = {
    "predict": "the predictions",
    "predict_on_batch": "the predictions",
    "get_weights": "the weights",
}
_OF_KIND: Final = {
    ValueKind.ARRAY: "an array",
    ValueKind.ARRAYS: "arrays",
    ValueKind.TENSOR: "a tensor",
    ValueKind.MODEL: "the model",
}
_ONE: Final = {
    ValueKind.ARRAY: "an array",
    ValueKind.ARRAYS: "arrays",
    ValueKind.TENSOR: "a tensor",
    ValueKind.MODEL: "a model",
}


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """Where a container is kept: `self.name`, or a name of a scope."""

    name: str
    scope: SourceScope
    is_attribute: bool
    # Of an object that was there before the round, as far as it is known already.
    is_object: bool = False


@dataclass(eq=False)
class SourceGrowth:
    """One statement that adds to a container that outlives the round.

    `value` is what is kept, `key` under which, `round` how often.
    """

    node: ast.expr | ast.stmt
    container: ast.expr
    value: ast.expr
    key: ast.expr | None
    place: Place
    round: Round
    source: "Source"

    @property
    def name(self) -> str:
        """The container as the source calls it: `self.saved`."""
        return ast.unparse(self.container)

    @cached_property
    def kinds(self) -> frozenset[ValueKind]:
        """What is kept."""
        return self.source.kinds(self.value)

    @property
    def is_heavy(self) -> bool:
        """Whether arrays or tensors are kept."""
        return bool(self.kinds & HEAVY)

    @cached_property
    def is_handed_out(self) -> bool:
        """Whether what is kept is what a generator or data set hands out, of whatever kind."""
        return is_handed_out(self.source, scope_of(self.node), self.value)

    @cached_property
    def keeps_model(self) -> bool:
        """Whether a model is kept, or an object that has one."""
        return self.source.leads_to(self.value, ValueKind.MODEL) is not None

    @cached_property
    def builds_a_model(self) -> bool:
        """Whether the container holds the parts of one model: it is a layer's, or they are called.

        `self.blocks.append(…)` of a model, and `x = blocks[i](x)` in the function that made them.
        """
        if self.place.is_attribute:
            is_in_constructor = scope_of(self.node).name == "__init__" and not self.round.through
            return is_in_constructor or self.owner in (ValueKind.MODEL, ValueKind.LAYER)
        if not self.place.scope.is_function:
            return False
        cls = self.place.scope.outer
        if cls is not None and cls.is_class:
            kind = self.source.names.instance(cls).kind
            if kind in (ValueKind.MODEL, ValueKind.LAYER):
                return True
        calls = [call for inner in self.place.scope.inside() for call in inner.calls]
        return any(self._is_item(call.func) or self._is_passed_on(call) for call in calls)

    def _is_passed_on(self, call: ast.Call) -> bool:
        """`Sequential(*blocks)`: the items become parts of something."""
        given = (one.value for one in call.args if isinstance(one, ast.Starred))
        return any(is_at(one, self.place) for one in given)

    def _is_item(self, func: ast.expr) -> bool:
        """Whether what is called is an item of the container."""
        if isinstance(func, ast.Subscript):
            return is_at(func.value, self.place)
        holder = binder(func.id, scope_of(func)) if isinstance(func, ast.Name) else None
        bound = [] if holder is None or not isinstance(func, ast.Name) else holder.binds[func.id]
        return any(
            one.how is How.ITEM and one.value is not None and is_at(root_of(one.value), self.place)
            for one in bound
        )

    @cached_property
    def makes_what_it_keeps(self) -> bool:
        """Whether each round keeps another object: it is not the same one again and again."""
        return self.source.is_of_round(self.value, self.round)

    @property
    def is_shared(self) -> bool:
        """Whether it belongs to a class, and so to all of its objects."""
        return self.source.is_shared(self.place)

    @property
    def is_of_function(self) -> bool:
        """Whether it is a name of a function, and so ends with the call."""
        return self.place.scope.is_function

    @cached_property
    def is_collected(self) -> bool:
        """Whether it is read when the loop has ended, or dropped and made again by a loop around.

        Then it gathers the result of a loop, and grows no longer than that.
        """
        rounds = self.source.rounds(self.node)
        is_renewed = bool(rounds) and rounds[-1].node is not self.round.node
        return is_renewed or (not self.place.is_attribute and self._is_read_later())

    def _is_read_later(self) -> bool:
        last = getattr(self.round.node, "end_lineno", None) or 0
        return any(
            isinstance(node, ast.Name)
            and node.id == self.place.name
            and node.lineno > last
            and is_at(node, self.place)
            for node in ast.walk(self.place.scope.node)
        )

    @property
    def container_type(self) -> str:
        """`list`, `dict`, `set`, `deque`; empty where it is not known."""
        things = self.source.things(self.container)
        names = [one.last_name for one in things if one.kind is ValueKind.CONTAINER]
        return names[0].lower().removeprefix("default").removeprefix("ordered") if names else ""

    @cached_property
    def is_known_container(self) -> bool:
        """Whether it is certainly a list, a dict or the like, and not an object of its own."""
        return ValueKind.CONTAINER in self.source.kinds(self.container)

    @property
    def is_reduced(self) -> bool:
        """Whether what is kept is a mean, a sum or the like: a tensor with one number."""
        parts = self._heavy.name.split(".")
        # What a session gives is most often a loss.
        return parts[-1] == "run" or any(
            one.startswith("reduce_") or one in REDUCTIONS for one in parts
        )

    @property
    def is_worked_through(self) -> bool:
        """Whether its round counts, waits or trains, and does not only go through names."""
        return self.source.is_worked_through(self.round)

    @property
    def is_in_callback(self) -> bool:
        """Whether a round of a callback adds here."""
        return self.callback_round is not None

    @cached_property
    def callback_round(self) -> str | None:
        """`epoch` or `batch`, if a callback adds here."""
        is_callbacks = not self.round.is_loop and self.owner in (ValueKind.CALLBACK, None)
        return self.round.name if is_callbacks and not self._is_data_sets else None

    @property
    def _is_data_sets(self) -> bool:
        """Whether its round is a batch that a data set is asked for."""
        scope: SourceScope | None = getattr(self.round.node, "scope", None)
        return scope is not None and is_data_set(self.source, scope.outer)

    @property
    def how_long(self) -> str:
        """How long what is kept stays."""
        is_callbacks = self.owner is ValueKind.CALLBACK
        return f"for as long as {'the callback' if is_callbacks else f'`{self.name}`'} lives"

    @cached_property
    def _heavy(self) -> Thing:
        things = self.source.things(self.value)
        heavy = [thing for thing in things if thing.kind in HEAVY]
        return heavy[0] if heavy else Thing(ValueKind.MODEL)

    @property
    def what(self) -> str:
        """What is kept, as the reader calls it: `the predictions`."""
        thing = self._heavy
        return _WHAT.get(thing.last_name) or _OF_KIND.get(thing.kind, "the data")

    @property
    def one(self) -> str:
        """What each round adds: `an array`."""
        return _ONE.get(self._heavy.kind, "an object")

    @cached_property
    def is_memo(self) -> bool:
        """Whether the program looks up there what it would have to compute: `if key in results`."""
        if self.key is None:
            return False
        function = scope_of(self.node)
        key = ast.unparse(self.key)
        tests = [one.test for one in function.statements if isinstance(one, ast.If)]
        asked = [
            (one.left, one.comparators[0])
            for test in tests
            for one in ast.walk(test)
            if isinstance(one, ast.Compare) and isinstance(one.ops[0], ast.In | ast.NotIn)
        ]
        asked += [
            (one.args[0], one.func.value)
            for one in function.calls
            if isinstance(one.func, ast.Attribute) and one.func.attr == "get" and one.args
        ]
        is_asked = any(ast.unparse(k) == key and is_at(d, self.place) for k, d in asked)
        return is_asked and not any(isinstance(one, ast.Raise) for one in self._under(tests))

    def _under(self, tests: "list[ast.expr]") -> Iterator[ast.stmt]:
        """What is done first where one of these tests holds."""
        for test in tests:
            statement = next(iter(around(test)))
            if isinstance(statement, ast.If):
                yield statement.body[0]

    @cached_property
    def owner(self) -> ValueKind | None:
        """What kind of object has the container as an attribute: a callback, a model."""
        if not self.place.is_attribute:
            return None
        return self.source.names.instance(self.place.scope).kind


class Adding(NamedTuple):
    """What adds something to something, before it is known whether that grows."""

    node: ast.expr | ast.stmt
    container: ast.expr
    value: ast.expr
    key: ast.expr | None


def growths(source: "Source") -> Iterator[SourceGrowth]:
    """All growths of a file, in the order of its lines."""
    found = [one for scope in source.scopes for one in _in_scope(source, scope)]
    yield from sorted(found, key=lambda one: (one.node.lineno, one.node.col_offset))


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


def is_set(node: ast.AST) -> bool:
    """Whether something is added to a set."""
    is_call = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    return is_call and node.func.attr == "add"  # type: ignore[attr-defined]


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


def additions(scope: SourceScope) -> Iterator[Adding]:
    """All that adds to something in a scope."""
    for call in scope.calls:
        func = call.func
        if isinstance(func, ast.Attribute) and func.attr in ADDING:
            yield from _added_by_call(call, func)
    for store in scope.stores:
        yield from _added_by_store(store)
    for bindings in scope.binds.values():
        for binding in bindings:
            if binding.value is not None and _is_display(binding):
                yield Adding(binding.node, binding.node.target, binding.value, None)


def _added_by_call(call: ast.Call, func: ast.Attribute) -> Iterator[Adding]:
    at, given = ADDING[func.attr], call.args
    if func.attr == "update":
        if given and isinstance(given[0], ast.Dict):
            for key, value in zip(given[0].keys, given[0].values, strict=True):
                if key is not None:
                    yield Adding(call, func.value, value, key)
    elif len(given) > at:
        key = given[0] if func.attr == "setdefault" else None
        yield Adding(call, func.value, given[at], key)


def _added_by_store(store: Store) -> Iterator[Adding]:
    binding, target = store.binding, store.target
    if binding.value is None:
        return
    is_item = isinstance(target, ast.Subscript)
    if isinstance(target, ast.Subscript) and binding.how is How.VALUE:
        yield Adding(binding.node, target.value, binding.value, target.slice)
    elif _is_display(binding):
        base = target.value if is_item else target
        yield Adding(binding.node, base, binding.value, getattr(target, "slice", None))


def _is_display(binding: object) -> bool:
    """Whether it is `+= […]`."""
    node = getattr(binding, "node", None)
    return (
        isinstance(node, ast.AugAssign)
        and isinstance(node.op, ast.Add)
        and isinstance(node.value, ast.List | ast.Tuple)
    )


def root_of(container: ast.expr) -> ast.expr:
    """`self.log["a"]` and `self.log.setdefault(k, [])` are parts of `self.log`."""
    for _ in range(_MOST_STEPS):
        if isinstance(container, ast.Subscript):
            container = container.value
        elif (
            isinstance(container, ast.Call)
            and isinstance(container.func, ast.Attribute)
            and container.func.attr in ("setdefault", "get")
        ):
            container = container.func.value
        else:
            break
    return container


def place_of(container: ast.expr) -> Place | None:
    """Where a container is kept, as far as its expression says."""
    root = root_of(container)
    if isinstance(root, ast.Name):
        holder = binder(root.id, scope_of(root))
        return (
            None
            if holder is None or holder.is_class
            else Place(root.id, holder, is_attribute=False)
        )
    if isinstance(root, ast.Attribute) and isinstance(root.value, ast.Name):
        cls = class_of_self(root.value)
        return None if cls is None else Place(root.attr, cls, is_attribute=True)
    return None


def class_of_self(name: ast.Name) -> SourceScope | None:
    """The class whose object a name is, if it is the first parameter of a method."""
    scope: SourceScope | None = scope_of(name)
    while scope is not None:
        outer = scope.outer
        if scope.is_function and outer is not None and outer.is_class:
            parameters = scope.parameters
            return outer if parameters and parameters[0].arg == name.id else None
        scope = outer
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


def bounded_names(scopes: Iterable[SourceScope]) -> frozenset[str]:
    """The last names of all that is emptied, renewed or measured anywhere: a quick first look."""
    found: list[ast.expr] = []
    for scope in scopes:
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


def is_at(node: ast.expr, place: Place) -> bool:
    """Whether an expression means this container, or a part of it."""
    found = place_of(node)
    return (
        found is not None
        and found.name == place.name
        and found.scope is place.scope
        and found.is_attribute is place.is_attribute
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


def _is_reader(owner: Thing) -> bool:
    """Whether the methods of an object leave the containers of the program as they are."""
    return owner.scope is None and owner.kind not in (ValueKind.CONTAINER, ValueKind.BOUNDED)


def _only_reads(source: "Source", call: ast.Call) -> bool:
    """Whether it is a function of a library, which changes no container of the program."""
    things = source.things(call.func)
    return bool(things) and all(
        (thing.scope is None and thing.kind is ValueKind.FUNCTION and is_known(thing.name))
        or (thing.kind is ValueKind.METHOD and thing.of is not None and _is_reader(thing.of))
        for thing in things
    )


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
