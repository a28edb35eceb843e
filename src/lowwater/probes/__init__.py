"""One file per source of numbers; each answers a Reading or NotMeasured(why)."""

from lowwater.probes.cpython import CPythonProbe
from lowwater.probes.glibc import GlibcProbe
from lowwater.probes.host import HostProbe
from lowwater.probes.tensorflow import TensorFlowProbe
from lowwater.protocols import Probe


def default_probes() -> tuple[Probe, ...]:
    """The probes of every run, in the order of the ledger."""
    malloc = GlibcProbe()
    return (HostProbe(), malloc, CPythonProbe(), TensorFlowProbe(malloc))
