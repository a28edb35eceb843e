"""Folds the records of a recording into a Timeline; usable while they still come in."""

import re
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, TypeVar

import msgspec

from lowwater.errors import UnreadableInput
from lowwater.model import (
    EXIT,
    Census,
    Collection,
    Ending,
    Holder,
    Mending,
    Moment,
    NativeTrace,
    Note,
    OutsideSample,
    Overhead,
    Sample,
    Tally,
    Timeline,
    Topic,
    Unit,
    gauges,
)
from lowwater.model.autopsy import beside
from lowwater.model.experiment import Fact
from lowwater.model.gpus import GpuLook, WatchedGpu
from lowwater.recording import records

if TYPE_CHECKING:
    from lowwater.model.autopsy import Scene
    from lowwater.model.devices import Device
    from lowwater.model.experiment import Experiments
    from lowwater.model.guard import Guarded

# What is judged in a second or two. The agent makes five censuses and 512 looks from outside.
MOST_CASES: Final = 256
MOST_CENSUSES: Final = 64
MOST_COLLECTIONS: Final = 512
MOST_OUTSIDE: Final = 1024
MOST_GPUS: Final = 64
# The agent sees three: the start, the last statement, and the exit.
MOST_MOMENTS: Final = 16
# What a reader would read.
MOST_NOTES: Final = 100
MOST_UNMEASURED: Final = 100
MOST_EXPERIMENTS: Final = 128
# Of the sentence of a library, which may quote the file.
MOST_QUOTED: Final = 200

_CODE: Final = re.compile(r"LW[0-9]{3}")
_Item = TypeVar("_Item")


class Fold:
    """Collects records, as many of each kind as all that follows can afford."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.environment: dict[str, str] = {}
        self.facts: dict[str, Any] = {}
        self.units: dict[int, Unit] = {}
        self.columns: list[str] = []
        self.samples: list[Sample] = []
        self.moments: list[Moment] = []
        self.collections: list[Collection] = []
        self.censuses: list[Census] = []
        self.holders: list[Holder] = []
        self.tallies: list[Tally] = []
        self.native_trace: NativeTrace | None = None
        self.outside: list[OutsideSample] = []
        self.devices: list[Device] = []
        self.gpus: dict[int, WatchedGpu] = {}
        self.gpu_looks: dict[int, list[GpuLook]] = {}
        self.unmeasured: dict[str, str] = {}
        self.notes: list[Note] = []
        self.mended: list[Mending] = []
        self.overhead: Overhead | None = None
        self.ended: records.Ended | None = None
        self.failed: records.Failed | None = None
        self.guarded: Guarded | None = None
        self.scene: Scene | None = None
        self.no_room: tuple[str, str | None] | None = None
        self.times_no_room = 0
        self.experiments: Experiments | None = None
        self._left_out: Counter[str] = Counter()

    def add(self, record: records.Record) -> None:  # noqa: C901, PLR0912, PLR0915 - a case each
        """Take one record, in the order of the file."""
        match record:
            # Of a unit whose own record was lost on a full disk nothing can be told.
            case records.Sampled(unit_id) if unit_id in self.units:
                self.samples.append(self._sample(record))
            case records.Passed(name, elapsed_us, values):
                moment = Moment(name, elapsed_us / 1e6, self._gauges(values))
                self._add("moments", self.moments, moment, MOST_MOMENTS)
            case records.Columns(names):
                self.columns = names
            case records.Began(environment) | records.Learned(environment):
                self.environment |= environment
            case records.FactsTold(facts):
                # Nothing else is looked up: a damaged file must not fill the memory.
                self.facts |= {name: facts[name] for name in Fact if name in facts}
            case records.UnitSeen(unit_id, name, where):
                self.units.setdefault(unit_id, Unit(unit_id, name, where))
            case records.Collected(unit_id, ordinal, elapsed_us, before, after):
                collected = Collection(unit_id, ordinal, elapsed_us / 1e6, before, after)
                self._add("collections", self.collections, collected, MOST_COLLECTIONS)
            case records.Counted():
                self._add("censuses", self.censuses, _census(record), MOST_CENSUSES)
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
                look = OutsideSample(elapsed_us / 1e6, anon_bytes)
                self._add("samples from outside", self.outside, look, MOST_OUTSIDE)
            case records.DevicesFound(devices):
                self.devices = devices
            case records.GpuFound(index, name, uuid, total, mig) if len(self.gpus) < MOST_GPUS:
                self.gpus[index] = WatchedGpu(index, name, uuid, total, mig)
            case records.GpuSeen(elapsed_us, index, used, free, ours) if index in self.gpus:
                seen = GpuLook(elapsed_us / 1e6, used, free, ours)
                looks = self.gpu_looks.setdefault(index, [])
                self._add("samples of a GPU", looks, seen, MOST_OUTSIDE)
            case records.Unmeasured(probe, None):
                self.unmeasured.pop(probe, None)
            case records.Unmeasured(probe, str(why)) if len(self.unmeasured) < MOST_UNMEASURED:
                self.unmeasured[probe] = why
            case records.Spent():
                self.overhead = _overhead(record)
            case records.Noted(elapsed_us, text, topic):
                note = Note(elapsed_us / 1e6, text, _topic(topic))
                self._add("notes", self.notes, note, MOST_NOTES)
            case records.Mended(mendings):
                self.mended = [_known(mending) for mending in mendings]
            case records.GuardActed(guarded):
                self.guarded = guarded
            case records.Failed():
                self.failed = record
            case records.FoundNoRoom(_, error, where):
                self.no_room = self.no_room or (error, where)
                self.times_no_room += 1
            case records.RanOut(scene):
                self.scene = beside(self.scene, scene)
            case records.Ended():
                self.ended = record
            case records.Experimented(experiments):
                found = _experiments(experiments)
                self.experiments = replace(found, rows=found.rows[:MOST_EXPERIMENTS])
                self._left_out["experiments"] = len(found.rows) - len(self.experiments.rows)

    def _sample(self, record: records.Sampled) -> Sample:
        gauges = self._gauges(record.values)
        return Sample(record.unit_id, record.ordinal, record.elapsed_us / 1e6, gauges)

    def _gauges(self, values: list[int | None]) -> dict[str, int]:
        named = zip(self.columns, values, strict=False)
        return {name: value for name, value in named if value is not None}

    def _add(self, name: str, items: list[_Item], item: _Item, most: int) -> None:
        if len(items) < most:
            items.append(item)
        else:
            self._left_out[name] += 1

    def timeline(self) -> Timeline:
        """Everything so far; where there is more than can be judged, a note says so."""
        units = self._judged_units()
        kept = {unit.id for unit in units}
        return Timeline(
            environment=self.environment,
            facts=self.facts,
            units=units,
            samples=tuple(sample for sample in self.samples if sample.unit_id in kept),
            moments=tuple(self.moments),
            collections=tuple(self.collections),
            censuses=tuple(self.censuses),
            holders=tuple(self.holders),
            tallies=tuple(self.tallies),
            native_trace=self.native_trace,
            outside=tuple(self.outside),
            devices=tuple(self.devices),
            gpus=tuple(
                replace(gpu, looks=tuple(self.gpu_looks.get(index, ())))
                for index, gpu in self.gpus.items()
            ),
            unmeasured=self.unmeasured,
            notes=(*self.notes, *self._about_left_out(len(units))),
            mended=tuple(self.mended),
            overhead=self.overhead,
            ending=self._ending(),
            scene=self.scene,
            no_room=self.no_room,
            times_no_room=self.times_no_room,
            experiments=self.experiments,
            guarded=self.guarded,
        )

    def _ending(self) -> Ending | None:
        """As the supervisor has seen it, with what only the program itself could know."""
        if self.ended is None:
            return None
        seen, failed = ending(self.ended), self.failed
        peaks = [
            one.gauges[gauges.RSS_PEAK] for one in self.moments if gauges.RSS_PEAK in one.gauges
        ]
        is_exit_seen = any(one.name == EXIT for one in self.moments)
        # From outside a peak of the last half second is missed, or that of a child is taken for it.
        peak = max(peaks) if is_exit_seen and peaks else seen.peak_rss_bytes
        if failed is None:
            return replace(seen, peak_rss_bytes=peak)
        ran_out = seen.out_of_memory or failed.out_of_memory
        return replace(seen, peak_rss_bytes=peak, out_of_memory=ran_out, error=failed.error)

    def _judged_units(self) -> tuple[Unit, ...]:
        """All of them, or those with the most samples; each is judged at each place."""
        places = len(gauges.places(dict.fromkeys(self.columns, 0)))
        most = max(1, MOST_CASES // places)
        if len(self.units) <= most:
            return tuple(self.units.values())
        samples = Counter(sample.unit_id for sample in self.samples)
        chosen = sorted(self.units, key=lambda one: -samples[one])[:most]
        return tuple(self.units[one] for one in sorted(chosen))

    def _about_left_out(self, judged: int) -> tuple[Note, ...]:
        told = [f"{count:,} more {name} were left out" for name, count in (+self._left_out).items()]
        if judged < len(self.units):
            told.append(
                f"{len(self.units):,} kinds of round trips were recorded; only the {judged:,} "
                "with the most samples are judged"
            )
        return tuple(Note(0.0, text) for text in told)


def ending(ended: records.Ended) -> Ending:
    """How the program ended, as the supervisor has seen it."""
    return Ending(
        ended.elapsed_us / 1e6,
        ended.exit_code,
        ended.signal,
        ended.out_of_memory,
        ended.peak_rss_bytes,
    )


def unknown(what: str, error: msgspec.ValidationError) -> UnreadableInput:
    """The error for what only another release can have written."""
    return UnreadableInput(
        f"{what} that this release cannot read",
        received=str(error)[:MOST_QUOTED],
        advice="pip install --upgrade lowwater",
    )


def _known(mending: Mending) -> Mending:
    if _CODE.fullmatch(mending.code) is None:
        raise UnreadableInput(
            "the recording holds a repair that this release cannot read",
            received=mending.code[:MOST_QUOTED],
            advice="pip install --upgrade lowwater",
        )
    return mending


def _experiments(plain: dict[str, Any]) -> "Experiments":
    from lowwater.model.experiment import Experiments

    try:
        return msgspec.convert(plain, Experiments)
    except msgspec.ValidationError as error:
        raise unknown("the recording holds experiments", error) from error


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


def _overhead(spent: records.Spent) -> Overhead:
    return Overhead(
        spent.samples,
        spent.sampling_us / 1e6,
        spent.collections,
        spent.collecting_us / 1e6,
        spent.censuses,
        spent.census_us / 1e6,
        spent.process_us / 1e6,
    )


def _topic(told: str) -> Topic:
    """A topic of a later release is nothing special to this one."""
    return Topic(told) if told in [*Topic] else Topic.PROGRAM
