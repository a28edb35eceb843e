"""One file under question: what the source side of a cause may ask."""

import ast
from collections.abc import Iterator
from functools import cached_property

from lowwater.check import autograd, closures, givers, homes, lifetimes
from lowwater.check import growths as _growths
from lowwater.check import mapped as _mapped
from lowwater.check.bounds import bounded_names
from lowwater.check.library import adds_operation, is_library
from lowwater.check.lookup import argument, binder, scope_of, stores_of_self
from lowwater.check.names import Resolver
from lowwater.check.pipelines import PipelineStep, SourcePipeline, pipelines
from lowwater.check.places import Place
from lowwater.check.project import File, Project
from lowwater.check.rounds import Passage, Round, lambda_round, loops_around, rounds_of_methods
from lowwater.check.scopes import COMPREHENSIONS, FUNCTIONS, Binding, How, SourceScope, around
from lowwater.check.source_growth import SourceGrowth
from lowwater.check.things import HEAVY, Thing, Things, ValueKind
from lowwater.model.source import Edit, SourceClaim, SourceSpan

_MOST_HOPS = 3
# What hands a function to the processes of a pool.
_SENDING = (
    "map", "imap", "imap_unordered", "starmap", "apply", "apply_async", "map_async",
    "starmap_async", "submit",
)  # fmt: skip
# The methods of a model or layer that Keras traces.
_TRACED_METHODS = frozenset(
    {"call", "train_step", "test_step", "predict_step", "compute_loss", "build", "__init__"}
)


class Source:
    """One file of a project, with everything that its names lead to."""

    def __init__(self, file: File, project: Project) -> None:
        """Nothing is read before a cause asks."""
        self.file, self.project = file, project
        self.names = Resolver(project)
        self._rounds_of_scope: dict[SourceScope, Round | None] = {}
        self._reached_from: dict[ast.AST, list[SourceScope]] = {}
        self._called: dict[tuple[SourceScope, int], list[Round]] = {}
        self._methods: dict[SourceScope, dict[SourceScope, str]] = {}
        self._changing: dict[tuple[SourceScope, str, Round, bool], bool] = {}
        self._pipelines: dict[ast.expr, list[SourcePipeline]] = {}

    # -- what is in the file

    @cached_property
    def scopes(self) -> list[SourceScope]:
        """The file, and all functions, classes and comprehensions in it."""
        return list(self.file.top.inside())

    @cached_property
    def calls(self) -> list[ast.Call]:
        """All calls, in the order of the lines."""
        found = [call for scope in self.scopes for call in scope.calls]
        return sorted(found, key=lambda one: (one.lineno, one.col_offset))

    def calls_of(self, *names: str) -> Iterator[ast.Call]:
        """All calls whose last name is one of these: `model.fit(…)` is a call of `fit`."""
        found = [call for name in dict.fromkeys(names) for call in self._by_last_name.get(name, ())]
        yield from sorted(found, key=lambda one: (one.lineno, one.col_offset))

    @cached_property
    def _by_last_name(self) -> dict[str, list[ast.Call]]:
        found: dict[str, list[ast.Call]] = {}
        for call in self.calls:
            found.setdefault(last_name(call.func), []).append(call)
        return found

    @cached_property
    def growths(self) -> list[SourceGrowth]:
        """All that adds to a container which outlives the round, and which nothing bounds."""
        return list(_growths.growths(self))

    @cached_property
    def bounded_names(self) -> frozenset[str]:
        """The names of all that is emptied, renewed or measured somewhere in the file."""
        return bounded_names(self.scopes)

    @cached_property
    def lines(self) -> list[str]:
        """The lines of the file, without their ends."""
        return self.file.text.splitlines()

    # -- what things are

    def things(self, node: ast.expr | None) -> Things:
        """All that an expression may stand for; empty where nothing is known."""
        return self.names.things(node)

    def kinds(self, node: ast.expr | None) -> frozenset[ValueKind]:
        """The kinds of all that an expression may stand for."""
        return self.names.kinds(node)

    def calls_library(self, call: ast.Call, *names: str) -> bool:
        """Whether a call may be one of these functions: `keras.utils.clear_session`."""
        if not self._may_be_called(last_name(call.func), names):
            return False
        return any(thing.name in names and thing.scope is None for thing in self.things(call.func))

    def _may_be_called(self, last: str, names: tuple[str, ...]) -> bool:
        """A look at the name alone: most calls have another one, and are not followed."""
        return last in self._renamed or any(name.rpartition(".")[2] == last for name in names)

    @cached_property
    def _renamed(self) -> frozenset[str]:
        """The names that may stand for a function of another name; "" for what has no name."""
        found = {""}
        for scope in self.scopes:
            for name, bindings in scope.binds.items():
                if any(_is_renaming(one, name) for one in bindings):
                    found.add(name)
            for store in scope.stores:
                if isinstance(store.target, ast.Attribute):
                    found.add(store.target.attr)
        return frozenset(found)

    def leads_to(self, node: ast.expr | None, kind: ValueKind | str) -> Thing | None:
        """The thing of this kind that a value is, or that it has as an attribute."""
        for thing in self.things(node):
            found = self._reached(thing, kind, hops=1)
            if found is not None:
                return found
        return None

    def _reached(self, thing: Thing, kind: ValueKind | str, hops: int) -> Thing | None:
        if thing.kind == kind:
            return thing
        cls = thing.scope
        if not hops or cls is None or not cls.is_class or thing.kind is not ValueKind.INSTANCE:
            return None
        for name in _fields_of(cls):
            for held in self.names.attribute(thing, name):
                if held.kind == kind:
                    return held
        return None

    def method_of(self, call: ast.Call, kind: ValueKind | str) -> str | None:
        """The name of the method, if a call is one of such a thing: `fit` of a model."""
        for thing in self.things(call.func):
            if thing.kind is ValueKind.METHOD and thing.of is not None and thing.of.kind == kind:
                return thing.last_name
        return None

    def calls_of_traced(self) -> Iterator[tuple[ast.Call, Thing]]:
        """Calls of what `tf.function` or `jax.jit` has wrapped, outside of such functions."""
        for call in self.calls:
            if not self._maybe_traced(call.func):
                continue
            for thing in self.things(call.func):
                if thing.kind is ValueKind.TRACED and not self.is_traced(scope_of(call)):
                    yield call, thing
                    break

    def _maybe_traced(self, func: ast.expr) -> bool:
        """A look at the name alone: it is wrapped in this file, or imported from another."""
        root = func.value if isinstance(func, ast.Attribute) else func
        is_imported = isinstance(root, ast.Name) and root.id in self._imported_names
        return is_imported or last_name(func) in self._wrapped_names

    @cached_property
    def _imported_names(self) -> frozenset[str]:
        """The names that are imported from other files of the project."""
        return frozenset(
            name
            for scope in self.scopes
            for name, bindings in scope.binds.items()
            for one in bindings
            if one.how is How.IMPORT and not _is_of_library(*one.node)
        )

    @cached_property
    def _wrapped_names(self) -> frozenset[str]:
        """The names of what has a decorator, or is the result of a wrapper."""
        found: set[str] = set()
        for scope in self.scopes:
            if isinstance(scope.node, FUNCTIONS) and scope.node.decorator_list:
                found.add(scope.name)
            for name, bindings in scope.binds.items():
                if any(_is_wrapping(one.value) for one in bindings):
                    found.add(name)
            for store in scope.stores:
                if _is_wrapping(store.binding.value) and isinstance(store.target, ast.Attribute):
                    found.add(store.target.attr)
        return frozenset(found)

    def is_traced(self, scope: SourceScope) -> bool:
        """Whether a scope is itself part of a graph."""
        node = scope.node
        is_own = isinstance(node, ast.FunctionDef) and any(
            thing.name in ("tensorflow.function", "jax.jit")
            for one in node.decorator_list
            for thing in self.things(one.func if isinstance(one, ast.Call) else one)
        )
        is_keras = (
            scope.name in _TRACED_METHODS
            and scope.outer is not None
            and (
                scope.outer.is_class
                and self.names.instance(scope.outer).kind in (ValueKind.MODEL, ValueKind.LAYER)
            )
        )
        return is_own or is_keras or (scope.outer is not None and self.is_traced(scope.outer))

    def is_number(self, node: ast.expr) -> bool:
        """Whether all that is known of a value says that it is a Python number."""
        return self.kinds(node) == {ValueKind.NUMBER}

    def changes_by_call(self, node: ast.expr, call: ast.Call) -> bool:
        """Whether a value differs from one run of a call to the next."""
        counted = any(self._changes(one, None) for one in ast.walk(node))
        return counted or any(self.changes(node, one) for one in self.rounds(call))

    def makes(self, call: ast.Call, kind: ValueKind | str) -> bool:
        """Whether a call gives a new thing of this kind, itself or through helpers."""
        for thing in self.things(call.func):
            if thing.kind is ValueKind.METHOD and thing.scope is None:
                continue
            for made in self.names.called(thing, call):
                if made.kind == kind and self._is_new(thing, kind, _MOST_HOPS):
                    return True
        return False

    def _is_new(self, thing: Thing, kind: ValueKind | str, hops: int) -> bool:
        """Whether what a function gives is made in it: a getter gives what there is already."""
        if thing.scope is None or thing.scope.is_class:
            return thing.kind in (ValueKind.FUNCTION, ValueKind.CLASS)
        return hops > 0 and any(True for _ in self.made_inside(thing.scope, kind, hops - 1))

    def made_inside(
        self, scope: SourceScope, kind: ValueKind | str, hops: int = _MOST_HOPS
    ) -> Iterator[ast.Call]:
        """The calls in a function of the project, and in what it calls, that make such a thing."""
        for inner in scope.inside():
            for call in inner.calls:
                yield from self._made_by(call, kind, hops)

    def _made_by(self, call: ast.Call, kind: ValueKind | str, hops: int) -> Iterator[ast.Call]:
        for thing in self.things(call.func):
            if thing.scope is None:
                made = self.names.called(thing, call)
                if thing.kind is not ValueKind.METHOD and any(one.kind == kind for one in made):
                    yield call
            elif thing.scope.is_class and thing.kind is ValueKind.CLASS:
                if self.names.instance(thing.scope).kind == kind:
                    yield call
                start = thing.scope.method("__init__")
                if start is not None and hops:
                    yield from self.made_inside(start, kind, hops - 1)
            elif thing.scope.is_function and hops:
                yield from self.made_inside(thing.scope, kind, hops - 1)

    def made_in_loops(self, kind: ValueKind | str) -> Iterator[tuple[ast.Call, ast.AST]]:
        """Calls in a loop that make such a thing, themselves or through helpers, and the loop."""
        for call in self.calls:
            loops = loops_around(call)
            if loops and any(True for _ in self._made_by(call, kind, _MOST_HOPS)):
                yield call, loops[0]

    def reached(self, node: ast.AST) -> Iterator[ast.Call]:
        """All calls that are made inside a node, and in the functions of the project called there.

        As far as a few calls lead; each function is entered once.
        """
        yield from (call for call in self.calls if node in around(call))
        for function in self._functions_reached(node):
            for inner in function.inside():
                yield from inner.calls

    def _functions_reached(self, node: ast.AST) -> list[SourceScope]:
        """The functions of the project called inside a node, as far as a few calls lead."""
        if node not in self._reached_from:
            self._reached_from[node] = list(self._reach(node))
        return self._reached_from[node]

    def _reach(self, node: ast.AST) -> Iterator[SourceScope]:
        seen: set[SourceScope] = set()
        waiting = [(call, _MOST_HOPS) for call in self.calls if node in around(call)]
        for call, hops in waiting:
            for thing in self.things(call.func):
                scope = thing.scope
                if scope is not None and scope.is_class:
                    scope = scope.method("__init__") if thing.kind is ValueKind.CLASS else None
                if scope is not None and hops and scope not in seen:
                    seen.add(scope)
                    yield scope
                    inside = [one for inner in scope.inside() for one in inner.calls]
                    waiting += [(one, hops - 1) for one in inside]

    # -- data pipelines

    def pipelines(self, node: ast.expr) -> list[SourcePipeline]:
        """All ways in which a data set may have been made, step by step."""
        if node not in self._pipelines:
            self._pipelines[node] = pipelines(self, node)
        return self._pipelines[node]

    def steps_of(self, name: str) -> Iterator[tuple[PipelineStep, list[SourcePipeline]]]:
        """The steps of this name in the file, each with all that may come before it."""
        for call in self.calls_of(name):
            if isinstance(call.func, ast.Attribute):
                before = self.pipelines(call.func.value)
                if before and not self._is_own(call):
                    yield PipelineStep(name, call), before

    def augments(self, mapped: ast.expr) -> bool:
        """Whether a mapped function changes its element at random."""
        return _mapped.augments(self, mapped)

    def decodes(self, mapped: ast.expr) -> bool:
        """Whether a mapped function makes a large element of a small one."""
        return _mapped.decodes(self, mapped)

    def giver_of(self, growth: SourceGrowth) -> SourceScope | None:
        """The generator or data set that adds here with each batch that it hands out."""
        return givers.giver_of(self, growth)

    def keeps_of_round(self, function: ast.expr, repeated: Round) -> bool:
        """Whether a function that a library keeps takes something of the round with it."""
        return closures.keeps_of_round(self, function, repeated)

    def takes_of_round(self, value: ast.expr, repeated: Round) -> bool:
        """Whether a value is made in the round from something that is new in it."""
        return any(
            closures.keeps_of_round(self, call, repeated)
            for call in lifetimes.calls_behind(self, value, repeated)
        )

    def calls_in_mapped(self, mapped: ast.expr) -> Iterator[ast.Call]:
        """All calls of a mapped function, and of those of the project that it calls."""
        for _, call in _mapped.calls_in(self, mapped):
            yield call

    def _is_own(self, call: ast.Call) -> bool:
        """Whether a call is one of the project, or of a library that is no pipeline."""
        return any(
            thing.scope is not None or thing.kind is not ValueKind.METHOD
            for thing in self.things(call.func)
        )

    # -- tapes

    def is_on_tape(self, node: ast.AST, hops: int = 1) -> bool:
        """Whether a tape records a node: here, or where the function around it is called."""
        for outer in around(node):
            if isinstance(outer, ast.With | ast.AsyncWith):
                kinds = [self._with_kind(item.context_expr) for item in outer.items]
                if "stop_recording" in kinds:
                    return False
                if ValueKind.TAPE in kinds:
                    return True
            elif isinstance(outer, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
                break
        function = scope_of(node)
        return bool(hops) and any(
            self.is_on_tape(call, hops - 1) for call in self.names.calls_of_function(function)
        )

    def _with_kind(self, entered: ast.expr) -> str:
        if isinstance(entered, ast.Call) and self.method_of(entered, ValueKind.TAPE):
            return last_name(entered.func)
        return ValueKind.TAPE if ValueKind.TAPE in self.kinds(entered) else ""

    # -- what repeats

    def rounds(self, node: ast.AST, hops: int = _MOST_HOPS) -> list[Round]:
        """What repeats a node, the innermost first: loops, a callback, the loops of callers."""
        found = [Round("iteration", loop) for loop in loops_around(node)]
        scope: SourceScope | None = scope_of(node)
        while scope is not None and isinstance(scope.node, COMPREHENSIONS):
            scope = scope.outer
        if scope is None or scope.outer is None:
            return found
        own = self.round_of(scope)
        if own is not None:
            return [*found, own]
        return [*found, *self._rounds_of_callers(scope, hops)] if hops else found

    def _rounds_of_callers(self, function: SourceScope, hops: int) -> list[Round]:
        key = (function, hops)
        if key not in self._called:
            self._called[key] = []
            self._called[key] = [
                one.beyond(Passage(function, call))
                for call in self.names.calls_of_function(function)
                for one in self.rounds(call, hops - 1)
            ]
        return self._called[key]

    def round_of(self, scope: SourceScope) -> Round | None:
        """The round that a function is, if a library calls it every epoch or batch."""
        if scope not in self._rounds_of_scope:
            self._rounds_of_scope[scope] = self._find_round(scope)
        return self._rounds_of_scope[scope]

    def _find_round(self, scope: SourceScope) -> Round | None:
        if isinstance(scope.node, ast.Lambda):
            name = lambda_round(scope.node)
            return None if name is None else Round(name, scope.node)
        cls = scope.outer
        if cls is None or not scope.is_function or not cls.is_class:
            return None
        if cls not in self._methods:
            kind = self.names.instance(cls).kind
            self._methods[cls] = rounds_of_methods(cls, kind)
        name = self._methods[cls].get(scope)
        return None if name is None else Round(name, scope.node)

    def changes(self, node: ast.expr, repeated: Round) -> bool:
        """Whether an expression has another value in each round."""
        return any(self._changes(name, repeated) for name in ast.walk(node))

    def _changes(self, node: ast.AST, repeated: Round | None) -> bool:
        if isinstance(node, ast.Name) and repeated is not None:
            return self._name_changes(node, repeated)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            return self._attribute_changes(node)
        return False

    def _name_changes(self, node: ast.Name, repeated: Round) -> bool:
        holder = binder(node.id, scope_of(node))
        if holder is None:
            return False
        # Inside of what gives it its value, a name means its old one.
        outside = [*around(node)]
        is_old = any(one.value in outside for one in holder.binds[node.id])
        key = (holder, node.id, repeated, is_old)
        if key not in self._changing:
            # Names that depend on each other in a circle add nothing to the answer.
            self._changing[key] = False
            self._changing[key] = any(
                self._binding_changes(one, holder, node, repeated) for one in holder.binds[node.id]
            )
        return self._changing[key]

    def _binding_changes(
        self, binding: Binding, holder: SourceScope, node: ast.Name, repeated: Round
    ) -> bool:
        """Whether a name gets another value here in each round."""
        how = binding.how
        if isinstance(binding.value, ast.IfExp) and _starts_again(binding.value):
            return False
        if how is How.PARAMETER:
            # The indices of a data set come again in each epoch.
            is_count = (
                holder.node is repeated.node
                and node.id in _numbers_of(holder)
                and not givers.is_data_set(self, holder.outer)
            )
            return is_count or self._argument_changes(holder, node.id, repeated)
        if how is How.ITEM:
            loops = (repeated.node, *getattr(repeated.node, "generators", ()))
            return binding.node in loops
        if how is How.AUGMENTED:
            return repeated.holds(binding.node)
        if how not in (How.VALUE, How.PART) or binding.value is None:
            return False
        is_here = repeated.holds(binding.node) and node not in ast.walk(binding.value)
        return is_here and self._depends(binding.value, node.id, repeated)

    def _argument_changes(self, function: SourceScope, name: str, repeated: Round) -> bool:
        """Whether a parameter gets another value in each round."""
        for number, passage in enumerate(repeated.through):
            if passage.function is function:
                given = argument(passage.call, function, name)
                outer = Round(repeated.name, repeated.node, repeated.through[:number])
                return given is not None and self.changes(given, outer)
        return False

    def _depends(self, value: ast.expr, name: str, repeated: Round) -> bool:
        """Whether a value that a name gets in the round changes with it: `eps = eps * 0.9`."""
        names = [one for one in ast.walk(value) if isinstance(one, ast.Name)]
        if any(one.id == name for one in names):
            return not isinstance(value, ast.Call)
        return any(self._changes(one, repeated) for one in ast.walk(value)
                   if not isinstance(one, ast.Name) or one.id != name)  # fmt: skip

    def _attribute_changes(self, node: ast.Attribute) -> bool:
        """Whether an attribute is counted on anywhere in the file: `self.step += 1`."""
        return node.attr in self._counted

    @cached_property
    def _counted(self) -> frozenset[str]:
        return frozenset(
            store.target.attr
            for scope in self.scopes
            for store in scope.stores
            if isinstance(store.target, ast.Attribute) and store.binding.how is How.AUGMENTED
        )

    def is_of_round(self, value: ast.expr, repeated: Round) -> bool:
        """Whether a value is made in the round itself, and not before it."""
        if isinstance(value, ast.Tuple | ast.List | ast.Dict):
            items = value.values if isinstance(value, ast.Dict) else value.elts
            return any(self.is_of_round(one, repeated) for one in items)
        if isinstance(value, ast.Name):
            holder = binder(value.id, scope_of(value))
            bound = [] if holder is None else holder.binds[value.id]
            return any(
                one.how in (How.VALUE, How.PART)
                and one.value is not None
                and repeated.holds(one.node)
                and self.is_of_round(one.value, repeated)
                for one in bound
            )
        return isinstance(value, ast.Call)

    def receiver(self, call: ast.Call) -> ast.expr:
        """`model` of `model.fit(…)`; of a plain call, the function itself."""
        return call.func.value if isinstance(call.func, ast.Attribute) else call.func

    def calls_behind(self, value: ast.expr, repeated: Round) -> Iterator[ast.Call]:
        """The calls of one round whose result a value may be."""
        return lifetimes.calls_behind(self, value, repeated)

    def home_of(self, container: ast.expr, repeated: Round) -> tuple[Place, Round] | None:
        """Where a container lives, and the round as its owner sees it."""
        return homes.home_of(self, container, repeated)

    def data_of_function(self, value: ast.expr, repeated: Round) -> ast.expr | None:
        """The arrays, tensors or models of a round that a function keeps alive."""
        return closures.data_of_round(self, value, repeated)

    def grown_defaults(self) -> Iterator[homes.GrownDefault]:
        """The lists and dicts that are a default value, and that calls add data to."""
        return homes.grown_defaults(self)

    def kept_losses(self) -> Iterator[autograd.KeptLoss]:
        """What a loop keeps of the torch tensors that it calls `backward()` of."""
        return autograd.kept_losses(self) if "torch" in self.file.text else iter(())

    def is_shared(self, place: Place) -> bool:
        """Whether an attribute belongs to the class, and so to all of its objects."""
        return homes.is_shared(place)

    def is_new(self, value: ast.expr, repeated: Round, kind: ValueKind | str) -> bool:
        """Whether each round makes another thing of this kind for a value."""
        return lifetimes.is_new(self, value, repeated, kind)

    def is_older(self, value: ast.expr, repeated: Round) -> bool:
        """Whether a value is certainly there before the round, the same in all rounds."""
        return lifetimes.is_older(self, value, repeated)

    def is_entered(self, value: ast.expr) -> bool:
        """Whether a `with` block ends a value: `with … as value`."""
        holder = binder(value.id, scope_of(value)) if isinstance(value, ast.Name) else None
        bound = [] if holder is None else holder.binds[getattr(value, "id", "")]
        return any(one.how is How.ENTERED for one in bound)

    @property
    def keeps_exceptions(self) -> bool:
        """Whether some `except` gives its exception a name."""
        return any(
            one.how is How.EXCEPTION
            for scope in self.scopes
            for bound in scope.binds.values()
            for one in bound
        )

    def tried_before(self, handled: ast.AST) -> Iterator[ast.Call]:
        """The calls of the `try`, here and in what it calls, whose `except` a node is in."""
        tried = next((one for one in around(handled) if isinstance(one, ast.Try)), None)
        for statement in [] if tried is None else tried.body:
            yield from self.reached(statement)

    def calls_that_make(self, cls: SourceScope) -> Iterator[ast.Call]:
        """The calls in the file that make an object of a class of it."""
        for call in self.calls_of(cls.name):
            if any(
                one.scope is cls and one.kind is ValueKind.CLASS for one in self.things(call.func)
            ):
                yield call

    def decorated_by(self, *names: str) -> Iterator[tuple[ast.expr, SourceScope]]:
        """The decorators of the file that are one of these, with the function or class."""
        last_names = {one.rpartition(".")[2] for one in names}
        for scope in self.scopes:
            for one in getattr(scope.node, "decorator_list", ()):
                func = one.func if isinstance(one, ast.Call) else one
                if last_name(func) in last_names and any(
                    thing.name in names for thing in self.things(func)
                ):
                    yield one, scope

    def traced_training(self) -> Iterator[tuple[ast.AST, Round]]:
        """Each `tf.function` with a training step that is made again in each round."""
        return lifetimes.traced_training(self)

    def happens_once(self, node: ast.AST, repeated: Round) -> bool:
        """Whether an `if` around lets one round through."""
        return _growths.happens_once(node, repeated)

    def is_worked_through(self, repeated: Round) -> bool:
        """Whether a loop counts, waits or trains, and does not only go through names."""
        return lifetimes.is_worked_through(self, repeated)

    def is_one_sample(self, value: ast.expr | None) -> bool:
        """Whether a batch has one sample, as its source says."""
        return lifetimes.is_one_sample(self, value)

    def attribute_owner(self, node: ast.expr, *names: str) -> ast.expr | None:
        """`model` of `model.output`, if it is an attribute of one of these names."""
        return node.value if isinstance(node, ast.Attribute) and node.attr in names else None

    def is_made_here(self, node: ast.expr, kind: ValueKind | str) -> bool:
        """Whether an expression is itself a call that makes such a thing."""
        return isinstance(node, ast.Call) and self.makes(node, kind)

    def loops_around(self, node: ast.AST) -> list[ast.AST]:
        """The loops of the same function around a node, the innermost first."""
        return loops_around(node)

    def calls_inside(self, node: ast.AST) -> Iterator[ast.Call]:
        """The calls that are written inside a node."""
        return (call for call in self.calls if node in around(call))

    def adds_operation(self, call: ast.Call) -> bool:
        """Whether a call adds an operation to a graph, where it is not eager."""
        # A method, such as `cost.eval()` or `session.run(…)`, runs what is there.
        return any(
            one.scope is None and one.kind is ValueKind.FUNCTION and adds_operation(one.name)
            for one in self.things(call.func)
        )

    def is_session_run(self, call: ast.Call) -> bool:
        """Whether a call runs a session: it is one, or an unknown thing called so."""
        if last_name(call.func) != "run" or not isinstance(call.func, ast.Attribute):
            return False
        kinds = self.kinds(call.func.value)
        return ValueKind.SESSION in kinds or (
            not kinds and last_name(call.func.value).lstrip("_") in ("sess", "session")
        )

    def is_eager(self, node: ast.AST) -> bool:
        """Whether a node is always run by Python, and never traced into a graph."""
        return not lifetimes.is_in_graph(self, scope_of(node))

    def is_method(self, function: SourceScope) -> bool:
        """Whether a function gets the object it belongs to."""
        cls = function.outer
        static = {"staticmethod", "classmethod"}
        names = {last_name(one) for one in getattr(function.node, "decorator_list", ())}
        return cls is not None and cls.is_class and function.is_function and not names & static

    def is_unbounded_memo(self, decorator: ast.expr) -> bool:
        """Whether `cache` or `lru_cache(maxsize=None)`: without a size, it is 128."""
        if not isinstance(decorator, ast.Call):
            return last_name(decorator) == "cache"
        given = [*decorator.args[:1], *(k.value for k in decorator.keywords if k.arg == "maxsize")]
        return any(isinstance(one, ast.Constant) and one.value is None for one in given)

    def has_heavy_fields(self, cls: SourceScope) -> bool:
        """Whether the objects of a class have arrays, data sets or models, or are models."""
        own = self.names.instance(cls)
        heavy = HEAVY | {ValueKind.MODEL, ValueKind.DATASET}
        return own.kind in heavy or any(
            held.kind in heavy
            for name in _fields_of(cls)
            for held in self.names.attribute(own, name)
        )

    def starts_processes(self, call: ast.Call) -> bool:
        """Whether a call starts several processes at a time: not `Pool(1)`, not one `Process`."""
        name = last_name(call.func)
        if name == "Process":
            return bool(self.rounds(call)) or len(list(self.calls_of("Process"))) > 1
        given = [*call.args[:1], *(one.value for one in call.keywords)]
        return not any(isinstance(one, ast.Constant) and one.value == 1 for one in given)

    def workers_of(self, call: ast.Call) -> Iterator[SourceScope]:
        """The functions of the file that the processes run."""
        given = [one.value for one in call.keywords if one.arg in ("target", "initializer")]
        if last_name(call.func) != "Process":
            for sent in self.calls_of(*_SENDING):
                given += sent.args[:1]
        for one in given:
            for thing in self.things(one):
                if thing.scope is not None and thing.scope.is_function:
                    yield thing.scope

    def uses_library(self, function: SourceScope, *packages: str) -> bool:
        """Whether a function, or what it calls, computes with one of these libraries."""
        for call in self.reached(function.node):
            for thing in self.things(call.func):
                owner = thing if thing.of is None else thing.of
                if thing.scope is None and owner.name.partition(".")[0] in packages:
                    return True
        return False

    def trains(self, repeated: Round) -> bool:
        """Whether a model is trained in a round: a callback is called by training."""
        return not repeated.is_loop or lifetimes.trains(self, repeated.node)

    def is_of_loop(self, func: ast.expr, loop: ast.AST) -> bool:
        """Whether the object of a method may be made in a loop, or in a function called there."""
        owner = func.value if isinstance(func, ast.Attribute) else func
        inside = {loop, *(one.node for one in self._functions_reached(loop))}
        if isinstance(owner, ast.Name):
            holder = binder(owner.id, scope_of(owner))
            bound = [] if holder is None else holder.binds[owner.id]
        elif isinstance(owner, ast.Attribute):
            classes = [one.scope for one in self.things(owner.value) if one.scope is not None]
            bound = [
                binding
                for cls in classes
                if cls.is_class
                for binding in self.names.field_bindings(cls, owner.attr)
            ]
        else:
            return True
        return any(
            one.how is How.PARAMETER or (isinstance(one.node, ast.AST) and _is_in(one.node, inside))
            for one in bound
        )

    # -- what a cause says

    def claim(  # noqa: PLR0913 - the fields of a claim
        self,
        node: ast.AST | PipelineStep,
        message: str,
        *,
        label: str = "",
        fix: str | None = None,
        edits: tuple[Edit, ...] = (),
        is_safe: bool = False,
    ) -> SourceClaim:
        """What a cause tells of a node."""
        return SourceClaim(self.span(node), message, label, fix, edits, is_safe)

    def wrapped(self, node: ast.expr, function: str) -> tuple[Edit, ...]:
        """Edits that put a call of a library function around an expression.

        None where the file has no name for that library.
        """
        package, _, name = function.rpartition(".")
        for bound in self.file.top.binds:
            for thing in self.names.named(bound, self.file.top):
                if thing.kind is ValueKind.MODULE and thing.name == package:
                    span = self.span(node)
                    start = SourceSpan(span.line, span.column, span.line, span.column)
                    end = SourceSpan(span.end_line, span.end_column, span.end_line, span.end_column)
                    return (Edit(start, f"{bound}.{name}("), Edit(end, ")"))
        return ()

    def insertion_after_imports(self, text: str) -> Edit:
        """An edit that adds lines below the imports at the top of the file."""
        line = 1
        for statement in self._top_statements():
            if isinstance(statement, ast.Import | ast.ImportFrom) or is_docstring(statement):
                line = (statement.end_lineno or 0) + 1
            else:
                break
        return Edit(SourceSpan(line, 1, line, 1), text)

    def _top_statements(self) -> list[ast.stmt]:
        assert isinstance(self.file.top.node, ast.Module)
        return self.file.top.node.body

    def span(self, node: ast.AST | PipelineStep) -> SourceSpan:
        """Where a node is, in characters; of a step of a pipeline, where its name is."""
        if isinstance(node, PipelineStep):
            return self._span_of_step(node)
        assert isinstance(node, ast.expr | ast.stmt | ast.keyword | ast.arg | ast.ExceptHandler)
        end_line = node.end_lineno or node.lineno
        end_offset = node.end_col_offset or node.col_offset
        return SourceSpan(
            node.lineno,
            self._column(node.lineno, node.col_offset),
            end_line,
            self._column(end_line, end_offset),
        )

    def _span_of_step(self, step: PipelineStep) -> SourceSpan:
        whole, func = self.span(step.call), self.span(step.call.func)
        column = max(1, func.end_column - len(step.name))
        return SourceSpan(func.end_line, column, whole.end_line, whole.end_column)

    def _column(self, line: int, offset: int) -> int:
        """Python counts bytes of UTF-8."""
        text = self._ast_lines[line - 1] if line <= len(self._ast_lines) else ""
        if text.isascii():
            return offset + 1
        return len(text.encode()[:offset].decode(errors="replace")) + 1

    @cached_property
    def _ast_lines(self) -> list[str]:
        """Lines as the parser counts them: a form feed ends none."""
        return self.file.text.replace("\r\n", "\n").replace("\r", "\n").split("\n")

    def text_of(self, node: ast.expr | ast.stmt) -> str:
        """An expression as it is written, on one line."""
        return " ".join((ast.get_source_segment(self.file.text, node) or ast.unparse(node)).split())


def _is_renaming(binding: Binding, name: str) -> bool:
    """Whether a name may stand for something that has another one."""
    if binding.how is How.IMPORT:
        node, alias = binding.node
        return isinstance(node, ast.ImportFrom) and (
            alias.name != name or not _is_of_library(node, alias)
        )
    return binding.how is not How.DEFINED


def _is_of_library(node: ast.Import | ast.ImportFrom, alias: ast.alias) -> bool:
    if isinstance(node, ast.Import):
        return is_library(alias.name)
    return not node.level and is_library(node.module or "")


def _is_wrapping(value: ast.expr | None) -> bool:
    """Whether a value may be the result of `tf.function(…)` or `jax.jit(…)`."""
    return isinstance(value, ast.Call) and last_name(value.func) in ("function", "jit", "partial")


def is_docstring(statement: ast.stmt) -> bool:
    """Whether a statement is a text on its own."""
    value = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


def _starts_again(value: ast.IfExp) -> bool:
    """Whether a value is set back now and then: `0.5 if step % 4 == 3 else scale * 0.9`."""
    return isinstance(value.body, ast.Constant) or isinstance(value.orelse, ast.Constant)


def _is_in(node: ast.AST, places: set[ast.AST]) -> bool:
    return node in places or any(outer in places for outer in around(node))


def last_name(node: ast.expr) -> str:
    """`model.fit` -> `fit`, `build` -> `build`."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _numbers_of(function: SourceScope) -> set[str]:
    """The parameters of a method of a callback that count: `epoch`, `batch`."""
    return {one.arg for one in function.parameters if one.arg not in ("self", "logs")}


def _fields_of(cls: SourceScope) -> set[str]:
    """The attributes that the methods of a class give its objects."""
    targets = [store.target for store in stores_of_self(cls)]
    return {one.attr for one in targets if isinstance(one, ast.Attribute)}
