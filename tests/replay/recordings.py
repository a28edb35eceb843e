"""The recordings of the specimens: where they are, and what the specimen's first line says."""

import gzip
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from lowwater.model import Timeline
from lowwater.recording import records
from lowwater.recording.frames import check_magic, whole_frames
from lowwater.recording.reader import to_timeline
from replay.first_line import SPECIMENS, Truth, truth_of

RECORDINGS = Path(__file__).parents[1] / "recordings"


@dataclass(frozen=True)
class Recorded:
    """One run of one specimen."""

    specimen: str
    run: str
    path: Path

    def __str__(self) -> str:
        return f"{self.specimen}/{self.run}"

    @property
    def truth(self) -> Truth:
        return truth_of(SPECIMENS / f"{self.specimen}.py")

    def timeline(self) -> Timeline:
        """The recording, read once."""
        return _loaded(self)

    def content(self) -> bytes:
        """The bytes that were recorded."""
        data = self.path.read_bytes()
        return gzip.decompress(data) if self.path.suffix == ".gz" else data


def recordings(folder: Path = RECORDINGS, only: str = "") -> Iterator[Recorded]:
    """All recordings of a folder that has one folder for each specimen."""
    paths = {*folder.glob("*/*.lw"), *folder.glob("*/*.lw.gz"), *folder.glob("*/recording")}
    for path in sorted(paths):
        specimen = path.parent.name
        if only in specimen and (SPECIMENS / f"{specimen}.py").exists():
            yield Recorded(specimen, path.name.partition(".")[0], path)


@cache
def _loaded(recorded: Recorded) -> Timeline:
    data, source = recorded.content(), str(recorded.path)
    check_magic(data, source)
    return to_timeline(records.decode(payload) for payload, _ in whole_frames(data, source))


def forget_timelines() -> None:
    """Drop the timelines that were read."""
    _loaded.cache_clear()
