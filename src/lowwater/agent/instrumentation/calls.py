"""Counts the calls of a framework's functions by the line of the program that makes them."""

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from types import CodeType, FrameType, ModuleType
from typing import Any, NamedTuple

from lowwater.agent.instrumentation._placement import Placement, innermost
from lowwater.agent.instrumentation._tick import Passes, tick_for
from lowwater.model.interruption import let_through

# More shapes of one call than this say nothing new.
_MOST_SHAPES = 4096
# With this many different shapes there will be more.
_VARIED = 4
# The methods of `tf.data` that keep data, or Python functions.
_PIPELINE = ("cache", "shuffle", "from_generator")


class Site(NamedTuple):
    """What is called, and the line that calls it."""

    name: str
    filename: str
    line: int


class Calls:
    """All calls so far; refers to files and lines, never to an object of the program."""

    def __init__(self, is_users: Callable[[str], bool]) -> None:
        """`is_users` tells the program's own files from those of libraries."""
        self._is_users = is_users
        self.counts: Counter[Site] = Counter()
        self.functions: Counter[Site] = Counter()
        self.shapes: dict[Site, set[int]] = {}

    def counter(self, name: str, passes: Passes | None = None) -> Callable[[], object]:
        """A callable to be placed at the start of a function.

        With `passes` it looks at some of the calls only. To find the line takes 10 µs between
        two steps of a training, when nothing of it is in the processor's caches any more.
        """
        if passes is None:
            return partial(self._count, name, 1)
        tick, look = tick_for(passes), passes.look

        def called() -> None:
            if tick():
                self._count(name, look())

        return called

    def counter_of_shapes(self, name: str, passes: Passes) -> Callable[[Any], None]:
        """The same for a function that is given data: how many different shapes it has seen.

        Where the shapes differ they are counted in every call: such calls take their time anyway.
        """
        tick, look = tick_for(passes), passes.look
        most_shapes = 0

        def called(data: Any) -> None:  # noqa: ANN401 - an array, a data set, a generator …
            nonlocal most_shapes
            is_looked_at = tick()
            if not is_looked_at and most_shapes < _VARIED:
                return
            site = self._count(name, look() if is_looked_at else 0)
            if site is not None:
                most_shapes = max(most_shapes, self._note_shape(site, data))

        return called

    def count_definition(self, code: CodeType | None) -> None:
        """Count what is made of a function of the program, by the line of its definition."""
        if code is not None and self._is_users(code.co_filename):
            self.functions[Site(code.co_qualname, code.co_filename, code.co_firstlineno)] += 1

    def where(self) -> tuple[str, int] | None:
        """The innermost line of the program on the stack of this thread."""
        frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 - `inspect` takes milliseconds
        while frame is not None:
            filename = frame.f_code.co_filename
            if self._is_users(filename):
                return filename, frame.f_lineno
            frame = frame.f_back
        return None

    def _count(self, name: str, calls: int) -> Site | None:
        where = self.where()
        if where is None:
            return None
        site = Site(name, *where)
        self.counts[site] += calls
        return site

    def _note_shape(self, site: Site, data: Any) -> int:  # noqa: ANN401
        """Take note of the shape of this call; answers how many there are by now."""
        shape = _shape_of(data)
        if shape is None:
            return 0
        shapes = self.shapes.setdefault(site, set())
        if len(shapes) < _MOST_SHAPES:
            shapes.add(shape)
        return len(shapes)


def _shape_of(data: Any) -> int | None:  # noqa: ANN401
    """A number for the shape; None where there is none that can be known without the program."""
    try:
        # Not `getattr(data, …)`: an attribute of the user's own class may do anything.
        kind = type(data)
        if kind.__module__.partition(".")[0] in {"numpy", "tensorflow", "jaxlib", "torch"}:
            return hash(tuple(data.shape))
    except Exception as error:  # noqa: BLE001 - a tensor of unknown rank, a v1 shape without a hash
        let_through(error)
    return None


def pipeline_placements(dataset_ops: ModuleType, calls: Calls) -> Iterator[Placement]:
    """The methods of `tf.data.Dataset` that a census wants to know about."""
    for name in _PIPELINE:
        method = innermost(getattr(dataset_ops.DatasetV2, name))
        yield Placement(method, calls.counter(name), "start")


def optimizer_placements(keras: ModuleType, calls: Calls) -> Iterator[Placement]:
    """Optimizers that are made, and models that are compiled."""
    yield Placement(innermost(keras.Model.compile), calls.counter("compile"), "start")
    optimizer = keras.optimizers.Optimizer
    yield Placement(innermost(optimizer.__init__), calls.counter("optimizer"), "start")
