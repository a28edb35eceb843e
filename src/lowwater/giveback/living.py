"""What of Keras and TensorFlow is alive: found by the collector, and held weakly."""

import sys
import weakref
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from lowwater.agent.census.instances import objects_of, subclasses_of
from lowwater.agent.census.kinds import derives, qualname_of

MODEL, LAYER, OPTIMIZER, VARIABLE = "model", "layer", "optimizer", "variable"
FUNCTION, GRAPH, DATASET, SESSION = "function", "graph", "data set", "session"
# What TensorFlow has made of a function: a name, a definition, and mostly a graph.
DEFINITION = "definition"

# The most telling kind first: a model is a layer too, and counts as a model.
_KINDS: tuple[tuple[str, str, str], ...] = (
    (MODEL, "keras", "Model"),
    (MODEL, "tf_keras", "Model"),
    (OPTIMIZER, "keras", "Optimizer"),
    (OPTIMIZER, "tf_keras.optimizers", "Optimizer"),
    (OPTIMIZER, "tf_keras.optimizers.legacy", "Optimizer"),
    (LAYER, "keras", "Layer"),
    (LAYER, "tf_keras.layers", "Layer"),
    (VARIABLE, "keras", "Variable"),
    (VARIABLE, "tensorflow.python.ops.resource_variable_ops", "BaseResourceVariable"),
    (DATASET, "tensorflow.python.data.ops.dataset_ops", "DatasetV2"),
    (SESSION, "tensorflow.python.client.session", "BaseSession"),
    (FUNCTION, "tensorflow.python.eager.polymorphic_function.polymorphic_function", "Function"),
    (GRAPH, "tensorflow.python.framework.ops", "Graph"),
    (
        DEFINITION,
        "tensorflow.python.eager.polymorphic_function.atomic_function",
        "AtomicFunction",
    ),
)
# In this order they are told.
ORDER = (MODEL, OPTIMIZER, LAYER, VARIABLE, FUNCTION, GRAPH, DATASET, SESSION)


class Watched(NamedTuple):
    """One object, held weakly, with the words to tell of it when it is gone."""

    reference: weakref.ref[Any]
    kind: str
    what: str
    identity: int

    @classmethod
    def of(cls, thing: Any, kind: str) -> "Watched":  # noqa: ANN401 - anything that can die
        """Watch an object; TypeError for what cannot be held weakly."""
        return cls(weakref.ref(thing), kind, what_is(thing), id(thing))

    @property
    def is_alive(self) -> bool:
        """Whether it still lives."""
        return self.reference() is not None


def living(*kinds: str) -> list[Watched]:
    """Everything of these kinds that is alive, or of all kinds."""
    return [Watched.of(thing, kind) for kind, thing in _found(kinds or (*ORDER, DEFINITION))]


def strong(*kinds: str) -> list[Any]:
    """The same, not weakly: for a moment only."""
    return [thing for _, thing in _found(kinds)]


def kind_of(thing: Any) -> str | None:  # noqa: ANN401
    """What kind of thing of a framework this is; None for anything else."""
    return kind_of_type(type(thing))


def kind_of_type(kind: type) -> str | None:
    """The same for all objects of a type."""
    return next((told for told, base in _bases(ORDER) if derives(kind, base)), None)


def deaths(watched: Iterable[Watched]) -> dict[str, int]:
    """How many of each kind are dead, the most telling kind first."""
    counts = Counter(one.kind for one in watched if not one.is_alive)
    return {kind: counts[kind] for kind in ORDER if counts[kind]}


def what_is(thing: Any) -> str:  # noqa: ANN401
    """`` `sequential_3` (Sequential) ``: the name that the library gave it, and its class."""
    name = _name_of(thing)
    kind = qualname_of(type(thing)).rpartition(".")[2]
    return f"`{name}` ({kind})" if name else f"a {kind}"


def loaded(module: str, name: str) -> Any:  # noqa: ANN401 - an attribute of a library
    """Something of a library that the program has imported; None where it has not."""
    return getattr(sys.modules.get(module), name, None)


def _found(kinds: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    kind_by_type: dict[int, str] = {}
    for kind, base in _bases(kinds):
        for subclass in subclasses_of(base):
            kind_by_type.setdefault(id(subclass), kind)
    if not kind_by_type:
        return
    for thing in objects_of(kind_by_type):
        yield kind_by_type[id(type(thing))], thing


def _bases(kinds: tuple[str, ...]) -> list[tuple[str, type]]:
    bases = ((kind, loaded(module, name)) for kind, module, name in _KINDS if kind in kinds)
    return [(kind, base) for kind, base in bases if isinstance(base, type)]


def _name_of(thing: Any) -> str:  # noqa: ANN401
    try:
        name = thing.name
    except Exception:  # noqa: BLE001 - it has none, or does not want to tell
        return ""
    return name if type(name) is str else ""
