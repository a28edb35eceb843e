"""What all probes read at one moment, and how much of it is our own."""

from collections.abc import Mapping, Sequence

from lowwater.agent.journal import Journal
from lowwater.model import NotMeasured, Reading
from lowwater.model.gauges import OWN_BLOCKS, OWN_BYTES, PYTHON_BLOCKS, in_use_bytes, malloc_bytes
from lowwater.model.interruption import let_through
from lowwater.model.policy import POLICY
from lowwater.model.protocols import Probe
from lowwater.recording.records import Unmeasured


class Readings:
    """Reads the probes; what one of them cannot measure is recorded when that changes."""

    def __init__(self, probes: Sequence[Probe], journal: Journal) -> None:
        """Nothing is read yet, and nothing is our own."""
        self._probes = tuple(probes)
        self._journal = journal
        self._unmeasured: dict[str, str] = {}
        self._own_blocks = 0
        self._own_bytes = 0

    def read(self) -> dict[str, int]:
        """The gauges now, with what is our own in them."""
        gauges: dict[str, int] = {}
        for probe in self._probes:
            answer = _answer_of(probe)
            if isinstance(answer, NotMeasured):
                self._unmeasured_now(probe.name, answer.why)
            else:
                gauges.update(answer.gauges)
                self._measured_now(probe.name)
        if self._own_blocks:
            gauges[OWN_BLOCKS] = self._own_blocks
        if self._own_bytes:
            gauges[OWN_BYTES] = self._own_bytes
        return gauges

    def in_use_now(self) -> int:
        """Bytes in use at this moment; 0 where they are not known."""
        return in_use_bytes(self.read()) or 0

    @property
    def looking_s(self) -> float:
        """What probes have spent on rare looks: those must not silence the unit they fall into."""
        return sum(getattr(probe, "looking_s", 0.0) for probe in self._probes)

    def book_as_own(
        self, before: Mapping[str, int], most_bytes: int = POLICY.resolution_bytes
    ) -> None:
        """What a census remembers is ours: counted as the program's, it would bend the next marks.

        Other threads go on meanwhile: what is more than a census leaves behind is theirs. Another
        experiment may leave another amount.
        """
        now = self.read()
        self._own_blocks += max(0, now.get(PYTHON_BLOCKS, 0) - before.get(PYTHON_BLOCKS, 0))
        left_bytes = malloc_bytes(now) - malloc_bytes(before)
        self._own_bytes += min(max(0, left_bytes), most_bytes)

    def _unmeasured_now(self, probe: str, why: str) -> None:
        if self._unmeasured.get(probe) != why:
            self._unmeasured[probe] = why
            self._journal.append(Unmeasured(probe, why))

    def _measured_now(self, probe: str) -> None:
        if self._unmeasured.pop(probe, None) is not None:
            self._journal.append(Unmeasured(probe, None))


def _answer_of(probe: Probe) -> Reading | NotMeasured:
    """One probe that fails must not cost what the others have to say."""
    try:
        return probe.read()
    except Exception as error:  # noqa: BLE001 - ours must not become the program's
        let_through(error)
        return NotMeasured(f"{type(error).__name__}: {error}")
