"""The vocabulary: what is measured, judged and told, as frozen data."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Reading:
    """What one probe saw at one moment: gauge name -> value (bytes or a count)."""

    gauges: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class NotMeasured:
    """A probe's answer when it has none. Missing is never zero."""

    why: str


@dataclass(frozen=True, slots=True)
class Unit:
    """One kind of round trip: an epoch, a `predict` call, an iteration of the loop at `where`."""

    id: int
    name: str
    where: str | None = None

    def __str__(self) -> str:
        return f"{self.name} at {self.where}" if self.where else self.name


@dataclass(frozen=True, slots=True)
class Sample:
    """All gauges at one boundary of one unit.

    `ordinal` is the number of round trips of that unit that were completed by then.
    When a long run is thinned, a sample stands for several boundaries: the lowest of them.
    """

    unit_id: int
    ordinal: int
    elapsed_s: float
    gauges: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Collection:
    """One full run of the garbage collector at a boundary, and what it gave back."""

    unit_id: int
    ordinal: int
    elapsed_s: float
    before_bytes: int
    after_bytes: int

    @property
    def freed_bytes(self) -> int:
        """Bytes in use that were waiting for the collector."""
        return self.before_bytes - self.after_bytes


@dataclass(frozen=True, slots=True)
class Note:
    """Something the reader should know: a probe that failed, a record that was lost."""

    elapsed_s: float
    text: str


@dataclass(frozen=True, slots=True)
class OutsideSample:
    """What the supervisor saw of the whole process from outside."""

    elapsed_s: float
    anon_bytes: int


@dataclass(frozen=True, slots=True)
class Footprint:
    """What watching has cost the program."""

    samples: int
    sampling_s: float
    collections: int
    collecting_s: float


@dataclass(frozen=True, slots=True)
class Ending:
    """How the program ended: its exit code, or the signal that killed it."""

    elapsed_s: float
    exit_code: int | None
    signal: int | None = None
    out_of_memory: bool = False
    peak_rss_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class Timeline:
    """One recording, read back: everything that judging needs."""

    environment: Mapping[str, str] = field(default_factory=dict)
    units: tuple[Unit, ...] = ()
    samples: tuple[Sample, ...] = ()
    collections: tuple[Collection, ...] = ()
    outside: tuple[OutsideSample, ...] = ()
    unmeasured: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()
    footprint: Footprint | None = None
    ending: Ending | None = None

    def of(self, unit: Unit) -> tuple[Sample, ...]:
        """The samples of one unit, in order."""
        return tuple(sample for sample in self.samples if sample.unit_id == unit.id)


class Kind(StrEnum):
    """The eight things that memory can be found doing."""

    LEAK = "leak"
    CACHE = "cache"
    RESERVED = "reserved"
    FRAGMENTED = "fragmented"
    WARM_UP = "warm-up"
    SAWTOOTH = "sawtooth"
    FLAT = "flat"
    INCONCLUSIVE = "inconclusive"


@dataclass(frozen=True, slots=True)
class Verdict:
    """A judgement on one unit, with its reason."""

    kind: Kind
    because: str
    unit: Unit | None = None
    units_seen: int = 0
    growth_bytes_per_unit: int | None = None
    interval_bytes: tuple[int, int] | None = None
    more_units_needed: int | None = None
    place: str = "host"

    @property
    def is_leak(self) -> bool | None:
        """True, False, or None where the run does not tell."""
        return None if self.kind is Kind.INCONCLUSIVE else self.kind is Kind.LEAK


@dataclass(frozen=True, slots=True)
class LedgerRow:
    """One line of the ledger: what a layer held at the start, at the end, and in between."""

    layer: str
    name: str
    series: tuple[int, ...]
    is_estimate: bool = False
    remark: str = ""

    @property
    def first_bytes(self) -> int:
        """The value at the first boundary."""
        return self.series[0]

    @property
    def last_bytes(self) -> int:
        """The value at the last boundary."""
        return self.series[-1]


@dataclass(frozen=True, slots=True)
class Ledger:
    """Who holds the memory, layer by layer; `rows` of one layer add up to the layer above."""

    rows: tuple[LedgerRow, ...] = ()
    unmeasured: Mapping[str, str] = field(default_factory=dict)
    counts: Mapping[str, tuple[int, int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Finding:
    """A cause that was recognised, with where it is and how to mend it."""

    code: str
    name: str
    message: str
    fix: str
    where: str | None = None
    holder: str | None = None
    share: float | None = None
    bytes_per_unit: int | None = None
    trace: tuple[str, ...] = ()
    library: str | None = None


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """All that a report tells: the leading verdict, one per unit, findings and the ledger."""

    verdict: Verdict
    units: tuple[Verdict, ...] = ()
    findings: tuple[Finding, ...] = ()
    ledger: Ledger = field(default_factory=Ledger)
    notes: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    footprint: Footprint | None = None
    ending: Ending | None = None
