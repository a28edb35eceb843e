"""Counts what frameworks do beside making objects, and remembers the counts of each census."""

import weakref
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from lowwater.agent.census.describe import code_of, type_name
from lowwater.agent.census.growth_site import Sources
from lowwater.agent.census.traces import changing_argument
from lowwater.model import Tally, tallies
from lowwater.model.interruption import let_through
from lowwater.model.tallies import Row

_FUNCTION = "tensorflow.python.eager.polymorphic_function.polymorphic_function.Function"
_GRAPH = "tensorflow.python.framework.ops.Graph"
_TAPE = "tensorflow.python.eager.backprop.GradientTape"
_MOST_ROWS = 100
# Operations of a graph whose lines are looked up; what grows is at its end.
_LATEST = 200


class Tallies:
    """The counts of all censuses so far; keeps no object of the program."""

    def __init__(self, sources: Sources) -> None:
        """`sources` knows the files of the program."""
        self._sources = sources
        self._counts: list[Mapping[Row, int]] = []
        # Of a row, what its latest census could say of it: no part of what is counted.
        self._reasons: dict[Row, str] = {}
        self._recording: list[weakref.ref[Any]] = []
        self._earlier_tapes: list[weakref.ref[Any]] = []

    @staticmethod
    def wants(kind: type) -> bool:
        """Whether the objects of this type are needed for counting."""
        return type_name(kind) in {_FUNCTION, _GRAPH, _TAPE}

    def take(self, objects: Iterable[Any], counted: Mapping[Row, int]) -> None:
        """Count for one census: these objects, and what was counted elsewhere."""
        counts = Counter(counted)
        self._earlier_tapes, self._recording = self._recording, []
        for thing in objects:
            try:
                counts.update(self._of_object(thing))
            except Exception as error:  # noqa: BLE001 - half made, or of another release
                let_through(error)
                continue
        self._counts.append(counts)

    def forget_earlier(self) -> None:
        """Begin again with the census just taken: those before have looked at other objects."""
        del self._counts[:-1]

    def rows(self) -> list[Tally]:
        """All that was ever counted, with one count per census; what changed comes first."""
        rows = {row: None for counts in self._counts for row in counts}
        told = [
            Tally(
                row.kind,
                row.name,
                tuple(counts.get(row, 0) for counts in self._counts),
                row.where,
                row.about or self._reasons.get(row, ""),
            )
            for row in rows
        ]
        return sorted(told, key=lambda tally: tally.counts[0] - tally.counts[-1])[:_MOST_ROWS]

    def _of_object(self, thing: Any) -> dict[Row, int]:  # noqa: ANN401
        name = type_name(type(thing))
        if name == _FUNCTION:
            return self._of_function(thing)
        return self._of_tape(thing) if name == _TAPE else self._of_graph(thing)

    def _of_function(self, function: Any) -> dict[Row, int]:  # noqa: ANN401
        code = code_of(function)
        if code is None:
            return {}
        where = self._sources.decorated_at(code.co_filename, code.co_firstlineno)
        traces = function.experimental_get_tracing_count()
        row = Row(tallies.TRACES, code.co_qualname, where)
        self._reasons[row] = changing_argument(function) or self._reasons.get(row, "")
        return {row: traces}

    def _of_tape(self, tape: Any) -> dict[Row, int]:  # noqa: ANN401
        """A tape that was recording already at the census before has recorded all since."""
        if not tape._recording:  # noqa: SLF001 - nothing else tells
            return {}
        was_recording = any(one() is tape for one in self._earlier_tapes)
        self._recording.append(weakref.ref(tape))
        where = self._sources.only_call_of("GradientTape")
        return {Row(tallies.TAPES, "GradientTape", where): int(was_recording)}

    def _of_graph(self, graph: Any) -> dict[Row, int]:  # noqa: ANN401
        """The operations of a v1 graph; the line is the one that added most of the latest."""
        if not graph.version:
            return {}
        latest = graph.get_operations()[-_LATEST:]
        lines = Counter(self._line_of(operation.traceback) for operation in latest)
        where = lines.most_common(1)[0][0]
        return {Row(tallies.OPERATIONS, "Graph", where): graph.version}

    def _line_of(self, traceback: Sequence[Any]) -> str | None:
        shown = (
            f"{name}:{entry.lineno}"
            for entry in reversed(traceback)
            if (name := self._sources.shown(entry.filename))
        )
        return next(shown, None)
