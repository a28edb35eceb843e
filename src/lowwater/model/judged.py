"""What is judged: the verdict on each unit, and the ledger."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from lowwater.model.measured import Unit
from lowwater.model.policy import POLICY


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
class Question:
    """One question that a verdict asked of the marks, and its answer.

    `measured` is in the unit of the threshold: a share where that is a share. `threshold_name` is
    the name in the policy; it is empty where the answer needs no threshold.
    """

    topic: str
    text: str
    answer: bool
    measured: float | None = None
    sign: str = ""
    threshold_name: str = ""
    threshold: float | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """A judgement on one unit, with its reason, and the questions that led to it in their order."""

    kind: Kind
    because: str
    unit: Unit | None = None
    units_seen: int = 0
    growth_bytes_per_unit: int | None = None
    interval_bytes: tuple[int, int] | None = None
    more_units_needed: int | None = None
    place: str = "host"
    questions: tuple[Question, ...] = field(default=(), compare=False, repr=False)

    @property
    def is_leak(self) -> bool | None:
        """True, False, or None where the run does not tell."""
        return None if self.kind is Kind.INCONCLUSIVE else self.kind is Kind.LEAK

    @property
    def is_slow(self) -> bool:
        """Whether it is a leak that takes many rounds to hurt."""
        growth = self.growth_bytes_per_unit or 0
        return self.kind is Kind.LEAK and growth < POLICY.slow_rate_bytes


class RowName(StrEnum):
    """The rows of the ledger that others look up; the same words are shown."""

    RESIDENT = "resident, in all"
    ANONYMOUS = "resident, anonymous"
    MAPPED_FILES = "resident, mapped files"
    MALLOC_FREE = "malloc, free but kept"
    POOL_FREE = "TensorFlow pool, free for reuse"
    KEPT = "kept free by allocators"


class DeviceRow(StrEnum):
    """The rows of the ledger of an accelerator; each begins with its place, such as `GPU:0`."""

    OURS = "taken, by the driver"
    OTHERS = "taken by other processes"
    POOL_FREE = "pool, free for reuse"
    REST = "driver context and libraries"
    IN_USE = "in use"

    def at(self, place: str) -> str:
        """The name of the row."""
        return f"{place} {self.value}"


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
