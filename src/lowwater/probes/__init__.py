"""One file per source of numbers; each answers a Reading or NotMeasured(why)."""

from lowwater.model.protocols import Probe
from lowwater.probes.cpython import CPythonProbe
from lowwater.probes.glibc import GlibcProbe, malloc_library
from lowwater.probes.host import HostProbe
from lowwater.probes.jemalloc import JemallocProbe
from lowwater.probes.results import ResultsProbe
from lowwater.probes.tcmalloc import TcmallocProbe
from lowwater.probes.tensorflow import TensorFlowProbe


def malloc_probe(library: str | None) -> Probe:
    """The probe that understands the malloc of this process."""
    if library is not None and "jemalloc" in library:
        return JemallocProbe()
    if library is not None and "tcmalloc" in library:
        return TcmallocProbe()
    return GlibcProbe()


def default_probes() -> tuple[Probe, ...]:
    """The probes of every run, in the order of the ledger."""
    host, malloc = HostProbe(), malloc_probe(malloc_library())
    return (host, malloc, CPythonProbe(), TensorFlowProbe(malloc, host), ResultsProbe())
