"""Let a line of the program add an operation to a graph of TensorFlow 1 once, and not each time."""

import functools
import sys
import weakref
from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, TypeAlias

from lowwater.diagnose.callers import is_of_the_program
from lowwater.diagnose.change import Change
from lowwater.diagnose.factors._factor import Factor
from lowwater.diagnose.facts import Facts
from lowwater.giveback.mend.eager_cache import RUNNING_NUMBER

# ruff: noqa: ANN401 - operations of TensorFlow

_GRAPHS = "tensorflow.python.framework.ops"
_SESSIONS = "tensorflow.python.client.session"


@dataclass(slots=True)
class _Made:
    """The operations of one graph, and how many of each kind were made since its last run."""

    operations: dict[Hashable, Any] = field(default_factory=dict)
    since_run: Counter[Hashable] = field(default_factory=Counter)


_MadeIn: TypeAlias = "weakref.WeakKeyDictionary[Any, _Made]"


class OneOperation(Factor):
    """From the first run of a graph on: the same lines, inputs and attributes, one operation.

    A number that is written into the graph stays the first one, so results may differ.
    """

    key = "operations"
    name = "operations made once"
    cleared = "not operations added to a graph"
    blamed = "adding operations to a graph in every round"
    codes = ("LW203",)
    rejects = ("LW203",)
    changes_amount = True

    def why_not(self, facts: Facts) -> str | None:
        """The first run has to have shown a graph that grows."""
        return None if "LW203" in facts.found else "no graph grows"

    def apply(self, change: Change, detail: str) -> None:  # noqa: ARG002
        """Where TensorFlow makes operations."""
        made: _MadeIn = weakref.WeakKeyDictionary()

        def has_run(session: Any) -> Any:
            made.setdefault(session.graph, _Made()).since_run.clear()
            return session

        def place(sessions: ModuleType) -> None:
            change.rebind(sessions.BaseSession.run, "self", has_run)

        change.when_imported(_GRAPHS, lambda graphs: _place(graphs, made))
        change.when_imported(_SESSIONS, place)


def _place(graphs: ModuleType, made: _MadeIn) -> None:
    make = graphs.Graph._create_op_internal  # noqa: SLF001

    @functools.wraps(make)
    def once(graph: Any, op_type: str, inputs: Any, *rest: Any, **named: Any) -> Any:
        known = made.get(graph) if type(graph) is graphs.Graph else None
        if known is None or not _may_be_shared(graph, op_type, inputs):
            return make(graph, op_type, inputs, *rest, **named)
        key = (
            op_type,
            tuple(map(id, inputs)),
            tuple(map(id, graph._control_dependencies_for_inputs(inputs))),  # noqa: SLF001
            _plain_name(str(named.get("name"))),
            _told(named.get("attrs")),
            _lines(sys._getframe(1)),  # noqa: SLF001
        )
        # One line may make several that are alike: the start and the end of a slice.
        known.since_run[key] += 1
        place = (key, known.since_run[key])
        if place not in known.operations:
            known.operations[place] = make(graph, op_type, inputs, *rest, **named)
        return known.operations[place]

    graphs.Graph._create_op_internal = once  # noqa: SLF001


def _may_be_shared(graph: Any, op_type: str, inputs: Any) -> bool:
    """Not what has a state of its own: each variable is another."""
    return bool(inputs) or not graph.op_def_for_type(op_type).is_stateful


def _plain_name(name: str) -> str:
    """Only scopes have got a number yet; `stack_1` is what TensorFlow calls an input."""
    return RUNNING_NUMBER.sub("", name) if name.endswith("/") else name


def _told(attributes: Any) -> Hashable:
    """All but the number that a constant has: its type and shape will do."""
    return tuple(
        (name, str(value.tensor.tensor_shape) if name == "value" else value.SerializeToString())
        for name, value in sorted((attributes or {}).items())
    )


def _lines(frame: Any) -> Hashable:
    """Where the program stands, in all of its calls."""
    lines = []
    while frame is not None:
        if is_of_the_program(frame):
            lines.append((frame.f_code.co_filename, frame.f_lineno))
        frame = frame.f_back
    return tuple(lines)
