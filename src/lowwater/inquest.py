"""What a census needs to know of the program, and the census itself, loaded when it is due."""

import gc
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from lowwater import tallies
from lowwater.instrumentation.calls import Calls
from lowwater.instrumentation.lifecycles import Lives
from lowwater.model import Tally
from lowwater.recording.records import Held, Record, Tallied, Weighed
from lowwater.tallies import Row

if TYPE_CHECKING:
    from lowwater.census.census import CensusTaker
    from lowwater.census.growth_site import Sources
    from lowwater.census.tallies import Tallies

_OPTIMIZER = "optimizer"
_INCOMPLETE = "not all objects could be looked at: a cause may lie among the others"


class UserFile(NamedTuple):
    """A file of the program as it was when it was loaded, and how reports call it."""

    source: bytes
    shown: str


@dataclass(slots=True)
class Inquest:
    """Called when a rise deserves a look at all objects; until then it costs nothing."""

    files: dict[str, UserFile]
    calls: Calls
    lives: Mapping[str, Lives]
    note: Callable[[str], None] = lambda _: None
    _taker: "CensusTaker | None" = None
    _tallies: "Tallies | None" = None
    _sources: "Sources | None" = None
    _known_files: dict[str, UserFile] = field(default_factory=dict)

    def __call__(self, in_use_bytes: int) -> tuple[int, Sequence[Record]]:
        """Take a census; answers how many objects there were, and the records of what it found."""
        taker, counted = self._ready()
        counts = self._counts()
        seen = taker.take(
            in_use_bytes, lambda objects: counted.take(objects, counts), counted.wants
        )
        if not seen.is_complete:
            self.note(_INCOMPLETE)
        weighed = Weighed(seen.objects_bytes, seen.large_bytes)
        return seen.objects, (weighed, Held([*seen.holders]), Tallied(counted.rows()))

    @staticmethod
    def prepare() -> None:
        """Load what a census needs while a framework loads: later it would look like growth."""
        import lowwater.census.census
        import lowwater.census.tallies  # noqa: F401

    def last_words(self) -> Sequence[Record]:
        """What was counted, at the end of a run that needed no census."""
        if self._tallies is not None:
            return ()
        rows = self._counts().items()
        return [Tallied([Tally(*row[:2], (count,), *row[2:]) for row, count in rows])]

    def _ready(self) -> "tuple[CensusTaker, Tallies]":
        from lowwater.census.census import CensusTaker
        from lowwater.census.growth_site import Sources
        from lowwater.census.tallies import Tallies

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
        # Other threads go on calling. A copy is made at one go; a list of items is not, for its
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
