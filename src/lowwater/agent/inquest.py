"""What a census needs to know of the program, and the census itself, loaded when it is due."""

import gc
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lowwater.agent.instrumentation.calls import Calls
from lowwater.agent.instrumentation.lifecycles import Lives
from lowwater.agent.program import LoadedFile
from lowwater.model import Tally, tallies
from lowwater.model.tallies import Row
from lowwater.model.units import format_bytes
from lowwater.probes.headroom import headroom
from lowwater.recording.records import Held, Record, Tallied, Weighed

if TYPE_CHECKING:
    from lowwater.agent.census.budget import Budget
    from lowwater.agent.census.census import CensusTaker
    from lowwater.agent.census.growth_site import Sources
    from lowwater.agent.census.tallies import Tallies

_OPTIMIZER = "optimizer"
# The program goes on growing, and its other threads go on while we look: most of the room is
# theirs. The first census takes less than the later ones: by then the leak has taken some of the
# room, and only censuses that have looked equally far can be compared.
_SHARE_OF_ROOM_FIRST = 1 / 4
_SHARE_OF_ROOM_LATER = 1 / 2
# With less than this not even the program's own variables can be looked at.
_LEAST_BYTES = 2 << 20


@dataclass(slots=True)
class Inquest:
    """Called when a rise deserves a look at all objects; until then it costs nothing."""

    files: dict[str, LoadedFile]
    calls: Calls
    lives: Mapping[str, Lives]
    note: Callable[[str], None] = lambda _: None
    headroom: Callable[[], int | None] = headroom
    clock: Callable[[], float] = time.thread_time
    _taker: "CensusTaker | None" = None
    _tallies: "Tallies | None" = None
    _sources: "Sources | None" = None
    _known_files: dict[str, LoadedFile] = field(default_factory=dict)
    _has_told: bool = False
    _has_noted: bool = False

    def __call__(
        self, in_use_bytes: int, risen_bytes: int = 0
    ) -> tuple[int, Sequence[Record]] | None:
        """Take a census; answers how many objects there were, and the records of what it found.

        None where there is nothing to tell: there was no room, or it can be compared with none.
        """
        taker, counted = self._ready()
        free_bytes = self.headroom()
        budget = _budget(free_bytes, self.clock, is_first=not taker.has_baseline)
        if budget is None:
            self._note_once(_no_room(free_bytes or 0))
            return None
        counts = self._counts()
        seen = taker.take(
            in_use_bytes,
            lambda objects: counted.take(objects, counts),
            counted.wants,
            budget,
            risen_bytes,
        )
        if seen.cut is not None:
            self._note_once(_cut_short(seen.cut.value, seen.objects, free_bytes or 0))
        if seen.found is None:
            return None
        found = seen.found
        if found.starts_over:
            counted.forget_earlier()
        self._has_told = True
        told = Held([*found.holders]), Tallied(counted.rows())
        if found.objects_bytes is None or found.large_bytes is None:
            return seen.objects, told
        weighed = Weighed(found.objects_bytes, found.large_bytes, found.starts_over)
        return seen.objects, (weighed, *told)

    @staticmethod
    def prepare() -> None:
        """Load what a census needs while a framework loads: later it would look like growth."""
        import lowwater.agent.census.census
        import lowwater.agent.census.tallies  # noqa: F401

    def last_words(self) -> Sequence[Record]:
        """What was counted, at the end of a run in which no census told it."""
        if self._has_told:
            return ()
        rows = self._counts().items()
        return [Tallied([Tally(*row[:2], (count,), *row[2:]) for row, count in rows])]

    def _note_once(self, text: str) -> None:
        if not self._has_noted:
            self._has_noted = True
            self.note(text)

    def _ready(self) -> "tuple[CensusTaker, Tallies]":
        from lowwater.agent.census.census import CensusTaker
        from lowwater.agent.census.growth_site import Sources
        from lowwater.agent.census.tallies import Tallies

        if self._taker is None or self._tallies is None or self._sources is None:
            self._sources = Sources()
            self._taker, self._tallies = CensusTaker(self._sources), Tallies(self._sources)
        for filename, file in dict(self.files).items():
            # A module that was changed and loaded again has other lines than before.
            if self._known_files.get(filename) is not file:
                self._sources.add(filename, *file)
                self._known_files[filename] = file
        return self._taker, self._tallies

    def _counts(self) -> Counter[Row]:
        """What was counted while the program ran."""
        counts: Counter[Row] = Counter()
        # Other threads go on calling. A copy is made at one go; a list of items is not: its
        # tuples may start the collector, and that may let another thread in.
        for site, count in dict(self.calls.counts).items():
            kind = tallies.OPTIMIZERS if site.name == _OPTIMIZER else tallies.CALLS
            counts[Row(kind, site.name, self._line(site.filename, site.line))] += count
        for site, count in dict(self.calls.functions).items():
            row = Row(tallies.FUNCTIONS, site.name, self._line(site.filename, site.line))
            counts[row] += count
        for site, shapes in dict(self.calls.shapes).items():
            counts[Row(tallies.SHAPES, site.name, self._line(site.filename, site.line))] += len(
                shapes
            )
        for kind, lives in self.lives.items():
            for (name, made_at, about), count in lives.by_label().items():
                where = self._line(*made_at) if made_at else None
                counts[Row(kind, name, where, about)] += count
        counts[Row(tallies.COLLECTOR, "enabled")] = int(gc.isenabled())
        counts[Row(tallies.COLLECTOR, "frozen")] = gc.get_freeze_count()
        return counts

    def _line(self, filename: str, line: int) -> str:
        return f"{self.files[filename].shown}:{line}"


def _budget(
    free_bytes: int | None, clock: Callable[[], float], *, is_first: bool
) -> "Budget | None":
    """What a census may take of the memory that is free; None where that is too little."""
    from lowwater.agent.census.budget import Budget

    if free_bytes is None:
        return Budget(clock=clock)
    share = _SHARE_OF_ROOM_FIRST if is_first else _SHARE_OF_ROOM_LATER
    most_bytes = round(free_bytes * share)
    return Budget(most_bytes, clock=clock) if most_bytes >= _LEAST_BYTES else None


def _no_room(free_bytes: int) -> str:
    return (
        f"too little memory was free ({format_bytes(free_bytes)}) for a heap scan: what holds "
        "the memory is not known"
    )


def _cut_short(why: str, objects: int, free_bytes: int) -> str:
    reason = {
        "memory": f"too little memory was free ({format_bytes(free_bytes)}) for a full heap scan",
        "time": "a full heap scan would have taken too long",
        "number": "there were too many objects for a full heap scan",
        "failed": "some objects could not be scanned",
    }[why]
    return f"{reason}: {objects:,} objects were scanned, and a cause may be among the others"
