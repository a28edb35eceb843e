"""What an expression may stand for, as far as reading the source can say."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final, Optional

if TYPE_CHECKING:
    from lowwater.check.scopes import SourceScope


class ValueKind(StrEnum):
    """What a value is, seen from the memory that it needs."""

    # What can be named and called.
    MODULE = "module"
    FUNCTION = "function"
    CLASS = "class"
    METHOD = "method"
    TRACED = "traced function"
    # What holds memory, or leads to what does.
    MODEL = "model"
    LAYER = "layer"
    OPTIMIZER = "optimizer"
    CALLBACK = "callback"
    METRIC = "metric"
    HISTORY = "history"
    DATASET = "data set"
    SESSION = "session"
    GRAPH = "graph"
    TAPE = "tape"
    ARRAY = "array"
    ARRAYS = "arrays"
    TENSOR = "tensor"
    SYMBOLIC = "symbolic tensor"
    VARIABLE = "variable"
    # What does not.
    NUMBER = "number"
    TEXT = "text"
    CONTAINER = "container"
    BOUNDED = "bounded container"
    EXCEPTION = "exception"
    INSTANCE = "object"
    OTHER = "other"


HEAVY: Final = frozenset({ValueKind.ARRAY, ValueKind.ARRAYS, ValueKind.TENSOR})
HEAVY_OBJECTS: Final = frozenset(
    {ValueKind.MODEL, ValueKind.HISTORY, ValueKind.TAPE, ValueKind.DATASET}
)


@dataclass(frozen=True, slots=True, eq=False)
class Thing:
    """One thing that an expression may stand for.

    `name` is the library's name for it (`keras.Sequential`; of a value, what made it), `scope` the
    class or function of the project, and `of` what a method is bound to, or what has traced it.
    """

    kind: ValueKind
    name: str = ""
    scope: Optional["SourceScope"] = None
    of: Optional["Thing"] = None

    @property
    def last_name(self) -> str:
        """`keras.models.Sequential` -> `Sequential`."""
        return self.name.rpartition(".")[2]


Things = tuple[Thing, ...]
UNKNOWN: Final[Things] = ()


def unique(things: Iterable[Thing]) -> Things:
    """The things without those that say the same again."""
    seen: dict[tuple[ValueKind, str, SourceScope | None], Thing] = {}
    for thing in things:
        seen.setdefault((thing.kind, thing.name, thing.scope), thing)
    return tuple(seen.values())
