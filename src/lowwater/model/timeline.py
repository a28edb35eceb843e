"""One recording, read back."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lowwater.model.autopsy import Scene
from lowwater.model.devices import Device
from lowwater.model.gauges import KERNEL_CACHE
from lowwater.model.gpus import WatchedGpu
from lowwater.model.guard import Guarded
from lowwater.model.held import Census, Holder, NativeTrace, Tally
from lowwater.model.measured import (
    EXIT,
    Collection,
    Ending,
    Mending,
    Moment,
    Note,
    OutsideSample,
    Overhead,
    Sample,
    Unit,
)

if TYPE_CHECKING:
    from lowwater.model.experiment import Experiments


@dataclass(frozen=True, slots=True)
class Timeline:
    """One recording, read back: everything that judging needs."""

    environment: Mapping[str, str] = field(default_factory=dict)
    # Of a run that `lowwater diagnose` has made: see `model.experiment.Fact`.
    facts: Mapping[str, Any] = field(default_factory=dict)
    units: tuple[Unit, ...] = ()
    samples: tuple[Sample, ...] = ()
    moments: tuple[Moment, ...] = ()
    collections: tuple[Collection, ...] = ()
    outside: tuple[OutsideSample, ...] = ()
    # The accelerators that the program has used, and all GPUs of the driver, seen from outside.
    devices: tuple[Device, ...] = ()
    gpus: tuple[WatchedGpu, ...] = ()
    censuses: tuple[Census, ...] = ()
    holders: tuple[Holder, ...] = ()
    tallies: tuple[Tally, ...] = ()
    native_trace: NativeTrace | None = None
    unmeasured: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()
    mended: tuple[Mending, ...] = ()
    overhead: Overhead | None = None
    ending: Ending | None = None
    # What was seen where memory ran out; and how often TensorFlow said so, with the first error
    # and its line.
    scene: Scene | None = None
    no_room: tuple[str, str | None] | None = None
    times_no_room: int = 0
    experiments: "Experiments | None" = None
    guarded: Guarded | None = None
    # Made once: each of many units is asked for again and again.
    _by_unit: Mapping[int, tuple[Sample, ...]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        by_unit: dict[int, list[Sample]] = {}
        for sample in self.samples:
            by_unit.setdefault(sample.unit_id, []).append(sample)
        known = {unit_id: tuple(samples) for unit_id, samples in by_unit.items()}
        object.__setattr__(self, "_by_unit", known)

    @property
    def kernel_cache_bytes(self) -> int | None:
        """What TensorFlow's kernel cache held when the program was over; None if not measured."""
        held = (one.gauges.get(KERNEL_CACHE) for one in self.moments if one.name == EXIT)
        return next((bytes_ for bytes_ in held if bytes_ is not None), None)

    def of(self, unit: Unit) -> tuple[Sample, ...]:
        """The samples of one unit, in order."""
        return self._by_unit.get(unit.id, ())
