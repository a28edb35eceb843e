"""What is found: the evidence for it, causes with their leak traces, and the whole diagnosis."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from lowwater.model.autopsy import Autopsy
from lowwater.model.devices import Device
from lowwater.model.guard import Guarded
from lowwater.model.held import Census, Holder, NativeTrace, Step, Tally
from lowwater.model.judged import Ledger, Verdict
from lowwater.model.measured import Ending, Mending, Note, Overhead

if TYPE_CHECKING:
    from lowwater.model.experiment import Conclusion, Experiments


@dataclass(frozen=True, slots=True)
class Evidence:
    """All that a cause is given: the verdict, and what the censuses of the run have shown.

    `collected_bytes` is what garbage collections made as an experiment gave back, and
    `kernel_cache_bytes` what TensorFlow's cache of prepared kernels held when the program was
    over, if that is known.
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
    devices: tuple[Device, ...] = ()

    def tallied(self, kind: str) -> tuple[Tally, ...]:
        """The tallies of one kind."""
        return tuple(tally for tally in self.tallies if tally.kind == kind)


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


class InSource(StrEnum):
    """Whether `lowwater check` reports a finding in the source, without running it."""

    SEEN = "seen"
    # By a rule that needs `--preview`.
    PREVIEW = "preview"
    NOT_SEEN = "not seen"


@dataclass(frozen=True, slots=True)
class Finding:
    """A cause that was recognised, with where it is and how to fix it.

    `story` is what happened in this program. `upstream` is what is known of the leak where it is
    one of a library, and `issue` its report there.
    """

    code: str
    name: str
    story: str
    fix: str
    where: str | None = None
    holder: str | None = None
    share: float | None = None
    bytes_per_unit: int | None = None
    trace: tuple[TraceNode, ...] = ()
    library: str | None = None
    upstream: str = ""
    issue: str | None = None
    fingerprint: str | None = None
    # None where the source was not read: only `lowwater run` does, beside the program.
    in_source: InSource | None = None
    # The ways from a root to each container that grew, unshortened: for experiments, not to read.
    paths: tuple[tuple[Step, ...], ...] = field(default=(), compare=False, repr=False)

    @property
    def message(self) -> str:
        """All there is to say about it, apart from the fix."""
        return f"{self.story} {self.upstream}".strip()

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
    # Of a run that `lowwater diagnose` has made: see `model.experiment.Fact`.
    facts: Mapping[str, Any] = field(default_factory=dict)
    # What a changed run says of its experiment; `notes` has it too, for a reader.
    of_experiment: tuple[Note, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    overhead: Overhead | None = None
    ending: Ending | None = None
    # Only where memory ran out.
    autopsy: Autopsy | None = None
    mended: tuple[Mending, ...] = ()
    # Only where the guard has ended training.
    guarded: Guarded | None = None
    # Only where `lowwater diagnose` has run the program with changes.
    experiments: "Experiments | None" = None
    conclusion: "Conclusion | None" = None
