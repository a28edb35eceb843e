"""Reads a recording back: a Timeline for judging, or new records while it still grows."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from lowwater.errors import UnreadableInput
from lowwater.model import (
    Census,
    Collection,
    Ending,
    Footprint,
    Holder,
    Mending,
    NativeTrace,
    Note,
    OutsideSample,
    Sample,
    Tally,
    Timeline,
    Unit,
)
from lowwater.recording import records
from lowwater.recording.frames import MAGIC, check_magic, whole_frames

if TYPE_CHECKING:
    from lowwater.experiment import Experiments


def load(path: str | Path) -> Timeline:
    """Read a whole recording; a torn tail is left out, anything else wrong is UnreadableInput."""
    source = str(path)
    data = _bytes_of(Path(path))
    check_magic(data, source)
    return to_timeline(_decoded((payload for payload, _ in whole_frames(data, source)), source))


def _bytes_of(path: Path) -> bytes:
    # A device may be endless: /dev/full reads as zeros for ever.
    if path.exists() and not path.is_file():
        msg = f"{path} is not a file that can be read back"
        raise UnreadableInput(msg, advice="lowwater run --record run.lw script.py")
    try:
        return path.read_bytes()
    except OSError as error:
        msg = f"cannot read {path}"
        raise UnreadableInput(msg, received=error.strerror or str(error)) from error


def end_of_whole_frames(data: bytes, source: str) -> int:
    """The offset behind the last whole frame: where more may be appended."""
    ends = (end for _, end in whole_frames(data, source))
    return max(ends, default=min(len(data), len(MAGIC)))


class Follower:
    """Reads what is new in a recording that another process is writing."""

    def __init__(self, path: str) -> None:
        """Follow the file at `path`, from its beginning; it need not exist yet."""
        self._path = path
        self._offset = len(MAGIC)

    def new_records(self) -> Iterator[records.Record]:
        """All records that became whole since the last call."""
        try:
            with open(self._path, "rb") as file:
                file.seek(self._offset)
                fresh = file.read()
        except OSError:
            return
        read_from = self._offset
        for payload, end in whole_frames(fresh, self._path, start=0):
            self._offset = read_from + end
            yield from _decoded([payload], self._path)


def _decoded(payloads: Iterable[bytes], source: str) -> Iterator[records.Record]:
    for payload in payloads:
        try:
            yield records.decode(payload)
        except msgspec.MsgspecError as error:
            msg = f"{source} holds a record that this release does not know"
            raise UnreadableInput(
                msg, received=str(error), advice="pip install --upgrade lowwater"
            ) from error


def to_timeline(stream: Iterable[records.Record]) -> Timeline:
    """Fold records into the one object that judging works on."""
    fold = Fold()
    for record in stream:
        fold.add(record)
    return fold.timeline()


class Fold:
    """Collects records; usable while they still come in."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.environment: dict[str, str] = {}
        self.units: list[Unit] = []
        self.columns: list[str] = []
        self.samples: list[Sample] = []
        self.collections: list[Collection] = []
        self.censuses: list[Census] = []
        self.holders: list[Holder] = []
        self.tallies: list[Tally] = []
        self.native_trace: NativeTrace | None = None
        self.outside: list[OutsideSample] = []
        self.unmeasured: dict[str, str] = {}
        self.notes: list[Note] = []
        self.mended: list[Mending] = []
        self.footprint: Footprint | None = None
        self.ending: Ending | None = None
        self.experiments: Experiments | None = None

    def add(self, record: records.Record) -> None:  # noqa: C901, PLR0912 - one case per record
        """Take one record, in the order of the file."""
        match record:
            case records.Sampled():
                self.samples.append(self._sample(record))
            case records.Columns(names):
                self.columns = names
            case records.Began(environment) | records.Learned(environment):
                self.environment |= environment
            case records.UnitSeen(unit_id, name, where):
                self.units.append(Unit(unit_id, name, where))
            case records.Collected(unit_id, ordinal, elapsed_us, before, after):
                self.collections.append(
                    Collection(unit_id, ordinal, elapsed_us / 1e6, before, after)
                )
            case records.Counted():
                self.censuses.append(_census(record))
            case records.Weighed(objects_bytes, large_bytes, starts_over):
                self.censuses[0 if starts_over else -1 :] = [
                    replace(one, objects_bytes=objects_bytes, large_bytes=large_bytes)
                    for one in self.censuses[-1:]
                ]
            case records.Held(holders):
                self.holders = holders
            case records.Tallied(tallies):
                self.tallies = tallies
            case records.NativeTraced(rounds, grown_bytes):
                self.native_trace = NativeTrace(rounds, grown_bytes) if rounds else None
            case records.NativeSites(sites) if self.native_trace is not None:
                self.native_trace = replace(self.native_trace, sites=tuple(sites))
            case records.SeenOutside(elapsed_us, anon_bytes):
                self.outside.append(OutsideSample(elapsed_us / 1e6, anon_bytes))
            case records.Unmeasured(probe, None):
                self.unmeasured.pop(probe, None)
            case records.Unmeasured(probe, str(why)):
                self.unmeasured[probe] = why
            case records.Spent():
                self.footprint = _footprint(record)
            case records.Noted(elapsed_us, text):
                self.notes.append(Note(elapsed_us / 1e6, text))
            case records.Mended(mendings):
                self.mended = mendings
            case records.Ended(elapsed_us, code, signal, out_of_memory, peak):
                self.ending = Ending(elapsed_us / 1e6, code, signal, out_of_memory, peak)
            case records.Experimented(experiments):
                self.experiments = _experiments(experiments)

    def _sample(self, record: records.Sampled) -> Sample:
        gauges = {
            name: value
            for name, value in zip(self.columns, record.values, strict=False)
            if value is not None
        }
        return Sample(record.unit_id, record.ordinal, record.elapsed_us / 1e6, gauges)

    def timeline(self) -> Timeline:
        """Everything so far."""
        return Timeline(
            environment=self.environment,
            units=tuple(self.units),
            samples=tuple(self.samples),
            collections=tuple(self.collections),
            censuses=tuple(self.censuses),
            holders=tuple(self.holders),
            tallies=tuple(self.tallies),
            native_trace=self.native_trace,
            outside=tuple(self.outside),
            unmeasured=self.unmeasured,
            notes=tuple(self.notes),
            mended=tuple(self.mended),
            footprint=self.footprint,
            ending=self.ending,
            experiments=self.experiments,
        )


def _experiments(plain: dict[str, Any]) -> "Experiments":
    from lowwater.experiment import Experiments

    try:
        return msgspec.convert(plain, Experiments)
    except msgspec.MsgspecError as error:
        msg = "the recording holds experiments that this release does not know"
        raise UnreadableInput(
            msg, received=str(error), advice="pip install --upgrade lowwater"
        ) from error


def _census(counted: records.Counted) -> Census:
    return Census(
        counted.unit_id,
        counted.ordinal,
        counted.elapsed_us / 1e6,
        counted.took_us / 1e6,
        counted.in_use_bytes,
        counted.objects,
        counted.ordinals,
        counted.native_bytes,
    )


def _footprint(spent: records.Spent) -> Footprint:
    return Footprint(
        spent.samples,
        spent.sampling_us / 1e6,
        spent.collections,
        spent.collecting_us / 1e6,
        spent.censuses,
        spent.census_us / 1e6,
    )
