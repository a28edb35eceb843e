"""A statement that adds to a container which outlives the round, and what a cause asks of it."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

from lowwater.check.givers import is_data_set, is_handed_out
from lowwater.check.library import REDUCTIONS
from lowwater.check.lookup import binder, scope_of
from lowwater.check.places import Place, is_at, root_of
from lowwater.check.rounds import Round
from lowwater.check.scopes import How, SourceScope, around
from lowwater.check.things import HEAVY, Thing, ValueKind

if TYPE_CHECKING:
    from lowwater.check.source import Source

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
