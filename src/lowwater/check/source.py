"""One file under question: what the source side of a cause may ask, and which file answers it."""

import ast
from collections.abc import Iterator
from functools import cached_property

from lowwater.check import (
    autograd,
    bounds,
    changing,
    closures,
    decorated,
    edits,
    fields,
    givers,
    handlers,
    homes,
    library_calls,
    lifetimes,
    lookup,
    makers,
    mapped,
    processes,
    rounds_around,
    spans,
    tapes,
    traced,
    training,
)
from lowwater.check import (
    growths as _growths,
)
from lowwater.check import (
    pipelines as _pipelines,
)
from lowwater.check import (
    reached as _reached,
)
from lowwater.check import (
    rounds as _rounds,
)
from lowwater.check.answers import KeptAnswers
from lowwater.check.names import Resolver
from lowwater.check.pipelines import PipelineStep, SourcePipeline
from lowwater.check.project import File, Project
from lowwater.check.scopes import SourceScope
from lowwater.check.things import Things, ValueKind
from lowwater.model.source import Edit, SourceClaim


class Source:
    """One file of a project, with everything that its names lead to.

    Most questions are answered by a function in another file, with this object in front.
    """

    def __init__(self, file: File, project: Project) -> None:
        """Nothing is read before a cause asks."""
        self.file, self.project = file, project
        self.names = Resolver(project)
        self.kept = KeptAnswers()

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
            found.setdefault(lookup.last_name(call.func), []).append(call)
        return found

    @cached_property
    def lines(self) -> list[str]:
        """The lines of the file, without their ends."""
        return self.file.text.splitlines()

    ast_lines = cached_property(spans.ast_lines)
    receiver = staticmethod(lookup.receiver)
    attribute_owner = staticmethod(lookup.attribute_owner)
    decorated_by = decorated.decorated_by
    is_method = staticmethod(decorated.is_method)
    is_unbounded_memo = staticmethod(decorated.is_unbounded_memo)

    # -- what things are

    def things(self, node: ast.expr | None) -> Things:
        """All that an expression may stand for; empty where nothing is known."""
        return self.names.things(node)

    def kinds(self, node: ast.expr | None) -> frozenset[ValueKind]:
        """The kinds of all that an expression may stand for."""
        return self.names.kinds(node)

    def is_number(self, node: ast.expr) -> bool:
        """Whether all that is known of a value says that it is a Python number."""
        return self.kinds(node) == {ValueKind.NUMBER}

    leads_to = fields.leads_to
    has_heavy_fields = fields.has_heavy_fields

    # -- what calls do

    @property
    def keeps_exceptions(self) -> bool:
        """Whether some `except` gives its exception a name."""
        return handlers.keeps_exceptions(self)

    renamed = cached_property(library_calls.renamed)
    calls_library = library_calls.calls_library
    method_of = library_calls.method_of
    adds_operation = library_calls.adds_operation
    is_session_run = library_calls.is_session_run
    makes = makers.makes
    made_inside = makers.made_inside
    made_in_loops = makers.made_in_loops
    is_made_here = makers.is_made_here
    calls_that_make = makers.calls_that_make
    calls_inside = _reached.calls_inside
    reached = _reached.reached
    uses_library = _reached.uses_library
    is_of_loop = _reached.is_of_loop
    tried_before = handlers.tried_before
    starts_processes = processes.starts_processes
    workers_of = processes.workers_of

    # -- what is traced or recorded

    imported_names = cached_property(traced.imported_names)
    wrapped_names = cached_property(traced.wrapped_names)
    calls_of_traced = traced.calls_of_traced
    is_traced = traced.is_traced
    is_eager = traced.is_eager
    traced_training = training.traced_training
    is_on_tape = tapes.is_on_tape
    kept_losses = autograd.kept_losses

    # -- data pipelines

    def pipelines(self, node: ast.expr) -> list[SourcePipeline]:
        """All ways in which a data set may have been made, step by step."""
        if node not in self.kept.pipelines:
            self.kept.pipelines[node] = _pipelines.pipelines(self, node)
        return self.kept.pipelines[node]

    steps_of = _pipelines.steps_of
    augments = mapped.augments
    decodes = mapped.decodes
    calls_in_mapped = mapped.calls_in_mapped
    giver_of = givers.giver_of

    # -- what repeats, and what is new in each round

    rounds = rounds_around.rounds
    round_of = rounds_around.round_of
    loops_around = staticmethod(_rounds.loops_around)
    happens_once = staticmethod(_growths.happens_once)
    is_worked_through = training.is_worked_through
    trains = training.trains_in_round
    counted = cached_property(changing.counted)
    changes = changing.changes
    changes_by_call = changing.changes_by_call
    is_of_round = changing.is_of_round
    is_new = lifetimes.is_new
    is_older = lifetimes.is_older
    is_entered = staticmethod(lifetimes.is_entered)
    is_one_sample = lifetimes.is_one_sample
    calls_behind = lifetimes.calls_behind

    # -- what is kept

    growths = cached_property(_growths.growths)
    bounded_names = cached_property(bounds.bounded_names)
    home_of = homes.home_of
    is_shared = staticmethod(homes.is_shared)
    grown_defaults = homes.grown_defaults
    keeps_of_round = closures.keeps_of_round
    takes_of_round = closures.takes_of_round
    data_of_function = closures.data_of_round

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

    span = spans.span
    text_of = spans.text_of
    wrapped = edits.wrapped
    insertion_after_imports = edits.insertion_after_imports
