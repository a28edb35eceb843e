"""The vocabulary: what is measured, judged and told, as frozen data."""

import signal
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from lowwater.gauges import KERNEL_CACHE
from lowwater.policy import POLICY

if TYPE_CHECKING:
    from lowwater.experiment import Conclusion, Experiments


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


# The moments of every run. Threads and exit handlers may go on after the last statement.
START: Final = "start"
LAST_STATEMENT: Final = "last statement"
EXIT: Final = "exit"


@dataclass(frozen=True, slots=True)
class Moment:
    """All gauges at one moment of the run that is no boundary: its start, its end.

    No unit has it, so it is booked and never judged.
    """

    name: str
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


class MendState(StrEnum):
    """What became of a repair."""

    APPLIED = "applied"
    WAITING = "waiting"
    REFUSED = "refused"
    UNDONE = "undone"


@dataclass(frozen=True, slots=True)
class Mending:
    """One repair of a library: which leak it is for, what became of it, and why."""

    code: str
    name: str
    library: str
    state: MendState
    because: str

    def __str__(self) -> str:
        heads = {
            MendState.APPLIED: "Mended",
            MendState.WAITING: "Waiting",
            MendState.REFUSED: "Not mended",
            MendState.UNDONE: "Undone",
        }
        return f"{heads[self.state]}: {self.code} {self.name.replace('-', ' ')} ({self.because})"


@dataclass(frozen=True, slots=True)
class OutsideSample:
    """What the supervisor saw of the whole process from outside."""

    elapsed_s: float
    anon_bytes: int


@dataclass(frozen=True, slots=True)
class Footprint:
    """What watching has cost, in seconds of processor time; `process_s` is that of the program.

    0 where it is not known: an earlier release made the recording.
    """

    samples: int
    sampling_s: float
    collections: int
    collecting_s: float
    censuses: int = 0
    census_s: float = 0.0
    process_s: float = 0.0


# Somebody wanted the program to end: it is not broken.
_ASKED_TO_END = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(frozen=True, slots=True)
class Ending:
    """How the program ended: its exit code, or the signal that killed it.

    `error` is the exception that nobody caught, as in `MemoryError: Unable to allocate 8 GiB`.
    """

    elapsed_s: float
    exit_code: int | None
    signal: int | None = None
    out_of_memory: bool = False
    peak_rss_bytes: int | None = None
    error: str | None = None

    @property
    def is_broken_off(self) -> bool:
        """Whether the program failed, so that it would fail again, however long it is watched."""
        if self.out_of_memory or self.error is not None:
            return True
        if self.signal is not None:
            return self.signal not in _ASKED_TO_END
        # A shell reports an interrupted program in this way.
        return self.exit_code not in (None, 0, *(128 + number for number in _ASKED_TO_END))


@dataclass(frozen=True, slots=True)
class Census:
    """One look at all objects of the program, taken at a boundary after a collection.

    `native_bytes` is the part of the bytes in use that malloc has handed out, `objects_bytes` the
    size of all objects that were found, and `large_bytes` the part of it that malloc has given:
    small objects live in memory that CPython manages itself.
    """

    unit_id: int
    ordinal: int
    elapsed_s: float
    took_s: float
    in_use_bytes: int
    objects: int
    ordinals: tuple[int, ...] = ()
    native_bytes: int | None = None
    objects_bytes: int | None = None
    large_bytes: int | None = None

    def ordinal_of(self, unit: Unit) -> int | None:
        """The round trips of any unit that were completed by then, as far as they were seen."""
        if unit.id == self.unit_id:
            return self.ordinal
        known = self.ordinals[unit.id] if unit.id < len(self.ordinals) else -1
        return known if known >= 0 else None


# What `Step.about` ends with for a tensor of torch that was not detached.
WITH_GRAPH = " with its graph"


@dataclass(frozen=True, slots=True)
class Step:
    """One object on the way from a root to what grew: how it is reached, and what it is.

    `edge` is `.saved`, `['x']`, `[*]`, `local net` …; `kinds` are the full names of the classes
    that the object is an instance of, the most special first. `where` is the user's own line:
    of the class, of the function, or the line at which a frame stands.
    """

    edge: str
    type: str
    kinds: tuple[str, ...] = ()
    about: str = ""
    where: str | None = None


@dataclass(frozen=True, slots=True)
class GrowthSite:
    """A line of the program that adds to a container.

    `keeps_batches` says that it adds what a generator yields, or what the `__getitem__` of a data
    set returns.
    """

    where: str
    code: str
    is_memo: bool = False
    in_function: str | None = None
    keeps_batches: bool = False


@dataclass(frozen=True, slots=True)
class Holder:
    """A path that grew from census to census: root, …, container, item, …, what is heavy.

    `steps[container]` is the object that grew; the steps behind it lead to the largest part of
    one of its new items. `counts` and `sizes_bytes` have one value per census: the items, and
    the bytes that are reached through the path. `grown_bytes` is its fair part of the growth
    between the first and the last census: what several holders reach is split among them,
    and then `is_shared`. `brings` are the library's objects that come with each new item, if not
    on the way to its largest part.
    """

    steps: tuple[Step, ...]
    container: int
    counts: tuple[int, ...]
    sizes_bytes: tuple[int, ...]
    grown_bytes: int
    sites: tuple[GrowthSite, ...] = ()
    is_users: bool = True
    is_shared: bool = False
    brings: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True)
class Tally:
    """How many things of one kind there were at each census; see `lowwater.tallies`."""

    kind: str
    name: str
    counts: tuple[int, ...]
    where: str | None = None
    about: str = ""

    @property
    def grew(self) -> bool:
        """Whether it rose from each census to the next."""
        return len(self.counts) > 1 and all(low < high for low, high in pairwise(self.counts))


@dataclass(frozen=True, slots=True)
class NativeSite:
    """A place that allocated what was not freed while memray watched.

    `where` is the program's innermost line, None where no line of it was on the stack; `function`
    is that line's function, else a library's. `native` is the function below it that wanted the
    memory, empty where it has no name or native stacks were not traced.
    """

    where: str | None
    function: str
    native: str
    grown_bytes: int


@dataclass(frozen=True, slots=True)
class NativeTrace:
    """What memray saw: for how many rounds, by how much memory in use grew meanwhile, and where."""

    rounds: int
    grown_bytes: int
    sites: tuple[NativeSite, ...] = ()


@dataclass(frozen=True, slots=True)
class Timeline:
    """One recording, read back: everything that judging needs."""

    environment: Mapping[str, str] = field(default_factory=dict)
    units: tuple[Unit, ...] = ()
    samples: tuple[Sample, ...] = ()
    moments: tuple[Moment, ...] = ()
    collections: tuple[Collection, ...] = ()
    outside: tuple[OutsideSample, ...] = ()
    censuses: tuple[Census, ...] = ()
    holders: tuple[Holder, ...] = ()
    tallies: tuple[Tally, ...] = ()
    native_trace: NativeTrace | None = None
    unmeasured: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()
    mended: tuple[Mending, ...] = ()
    footprint: Footprint | None = None
    ending: Ending | None = None
    experiments: "Experiments | None" = None
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


class Kind(StrEnum):
    """The nine things that memory can be found doing."""

    LEAK = "leak"
    CACHE = "cache"
    RESERVED = "reserved"
    FRAGMENTED = "fragmented"
    WARM_UP = "warm-up"
    SAWTOOTH = "sawtooth"
    TRICKLE = "trickle"
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

    @property
    def is_slow(self) -> bool:
        """Whether it is a leak that takes many rounds to hurt."""
        growth = self.growth_bytes_per_unit or 0
        return self.kind is Kind.LEAK and growth < POLICY.slow_rate_bytes


@dataclass(frozen=True, slots=True)
class LedgerRow:
    """One line of the ledger: what a layer held at the start, at the end, and in between.

    `series` has the values at the boundaries. `first`, `last` and `highest` are of the whole run,
    where more of it was seen than its boundaries.
    """

    layer: str
    name: str
    series: tuple[int, ...]
    is_estimate: bool = False
    remark: str = ""
    first: int | None = None
    last: int | None = None
    highest: int | None = None

    @property
    def first_bytes(self) -> int:
        """The value at the start of the run, as far as it was seen."""
        return self.series[0] if self.first is None else self.first

    @property
    def last_bytes(self) -> int:
        """The value at the end of the run, as far as it was seen."""
        return self.series[-1] if self.last is None else self.last

    @property
    def highest_bytes(self) -> int:
        """The highest value that was seen, from inside or from outside."""
        seen = (*self.series, self.first_bytes, self.last_bytes)
        return max(seen if self.highest is None else (*seen, self.highest))


@dataclass(frozen=True, slots=True)
class Ledger:
    """Who holds the memory, layer by layer; `rows` of one layer add up to the layer above.

    `summary` says the same in one row for each layer: what the system sees, what allocators keep
    free, what is in use.
    """

    rows: tuple[LedgerRow, ...] = ()
    unmeasured: Mapping[str, str] = field(default_factory=dict)
    counts: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    summary: tuple[LedgerRow, ...] = ()


@dataclass(frozen=True, slots=True)
class Evidence:
    """All that a cause is given: the verdict, and what the censuses of the run have shown.

    `growth_bytes` is what memory in use grew by between the first and the last census, and
    `unexplained_bytes` the part of it that no Python object accounts for; `collected_bytes`
    is what garbage collections made as an experiment gave back, and `kernel_cache_bytes` what
    TensorFlow's cache of prepared kernels held when the program was over, if that is known.
    """

    verdict: Verdict
    censuses: tuple[Census, ...] = ()
    holders: tuple[Holder, ...] = ()
    tallies: tuple[Tally, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    ledger: Ledger = field(default_factory=Ledger)
    collected_bytes: int = 0
    native_trace: NativeTrace | None = None
    kernel_cache_bytes: int | None = None

    @property
    def growth_bytes(self) -> int:
        """The growth of memory in use between the censuses, less what came only once."""
        if len(self.censuses) < 2:  # noqa: PLR2004 - one census has nothing to be compared with
            return 0
        parts = self._parts()
        if not parts:
            return self.censuses[-1].in_use_bytes - self.censuses[0].in_use_bytes
        return sum(explained for explained, _ in parts) + self.unexplained_bytes

    @property
    def unexplained_bytes(self) -> int:
        """The growth that no Python object accounts for.

        As with paths, what grows is what grew every time: a library that starts up in the first
        interval takes memory too.
        """
        parts = self._parts()
        if not parts:
            return max(0, self.growth_bytes - sum(holder.grown_bytes for holder in self.holders))
        total = sum(sum(part) for part in parts)
        least = max(1.0, _LEAST_OF_GROWTH * total)
        telling = [part for part in parts if sum(part) >= least]
        share = min((native / (python + native) for python, native in telling), default=0.0)
        python = sum(part for part, _ in parts)
        most = sum(native for _, native in parts)
        return most if share >= 1 else min(most, round(python * share / (1 - share)))

    def _parts(self) -> list[tuple[int, int]]:
        """What Python objects, and what malloc beyond them, grew by from census to census."""
        parts = (_grown(early, late) for early, late in pairwise(self.censuses))
        return [part for part in parts if part is not None]

    def tallied(self, kind: str) -> tuple[Tally, ...]:
        """The tallies of one kind."""
        return tuple(tally for tally in self.tallies if tally.kind == kind)


# Between two censuses with less of the growth than this nothing can be told.
_LEAST_OF_GROWTH = 0.15


def _grown(early: Census, late: Census) -> tuple[int, int] | None:
    sizes = (early.native_bytes, late.native_bytes, early.large_bytes, late.large_bytes)
    if None in (*sizes, early.objects_bytes, late.objects_bytes):
        return None
    native = (late.native_bytes or 0) - (early.native_bytes or 0)
    large = (late.large_bytes or 0) - (early.large_bytes or 0)
    # Small objects were weighed one by one: better than an average per block.
    small = (late.objects_bytes or 0) - (early.objects_bytes or 0) - large
    beyond = max(0, native - max(0, large))
    return max(0, native - beyond) + max(0, small), beyond


class Status(StrEnum):
    """Whether an object on a leak trace should be there."""

    NEEDED = "needed"
    LEAKED = "leaked"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class TraceNode:
    """One line of a leak trace, with its status and the reason for it."""

    edge: str
    what: str
    status: Status
    because: str
    where: str | None = None
    is_suspect: bool = False


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
    trace: tuple[TraceNode, ...] = ()
    library: str | None = None
    fingerprint: str | None = None
    # The ways from a root to each container that grew, unshortened: for experiments, not to read.
    paths: tuple[tuple[Step, ...], ...] = field(default=(), compare=False, repr=False)

    @property
    def identity(self) -> str:
        """What tells it from the other findings of one run."""
        return f"{self.code} {self.where or ''} {self.holder or ''}"


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
    mended: tuple[Mending, ...] = ()
    # Only where `lowwater diagnose` has run the program with changes.
    experiments: "Experiments | None" = None
    conclusion: "Conclusion | None" = None
