"""What this machine can measure, what it will do with memory, and which leaks it has built in."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from lowwater.causes.upstream import KNOWN_LEAKS, KnownLeak
from lowwater.cli._doctor.allocator import ALLOCATOR
from lowwater.cli._doctor.frameworks import ABOUT_FRAMEWORKS
from lowwater.cli._doctor.limits import LIMITS
from lowwater.cli._doctor.surroundings import Fact, Machine, Source
from lowwater.cli._doctor.versions import VERSIONS
from lowwater.model import NotMeasured
from lowwater.model.protocols import Probe

_Answer = TypeVar("_Answer")

SECTIONS: Mapping[str, Mapping[str, Source]] = {
    "versions": VERSIONS,
    "allocator": ALLOCATOR,
    "frameworks": ABOUT_FRAMEWORKS,
    "limits": LIMITS,
}

# Probe -> what the ledger lacks without it.
WHAT_PROBES_GIVE: Mapping[str, str] = {
    "host": "resident memory by kind",
    "malloc": "bytes in use in malloc's heap",
    "cpython": "CPython's small objects",
    "cgroup": "the container's limit",
}


@dataclass(frozen=True, slots=True)
class Checkup:
    """All that the doctor found; `unmeasured` says what cannot be known here, and why."""

    sections: Mapping[str, Mapping[str, Fact]]
    known_leaks: tuple[tuple[KnownLeak, str], ...]
    unmeasured: Mapping[str, str]


def examine(around: Machine | None = None) -> Checkup:
    """Look at everything once; a source that fails gives its reason."""
    around = around or Machine()
    sections = {
        title: {name: _ask(partial(source, around)) for name, source in sources.items()}
        for title, sources in SECTIONS.items()
    }
    return Checkup(
        sections=sections,
        known_leaks=tuple(_known_leaks(sections["versions"])),
        unmeasured=dict(
            [
                *_silent_probes(around.probes),
                *_out_of_reach(sections["versions"], sections["frameworks"]),
            ]
        ),
    )


def _ask(read: Callable[[], _Answer]) -> _Answer | NotMeasured:
    try:
        return read()
    except OSError as error:
        return NotMeasured(f"{error.filename or 'the system'}: {error.strerror or error}")
    except Exception as error:  # noqa: BLE001 - a doctor who falls ill helps nobody
        return NotMeasured(f"{type(error).__name__}: {error}")


def _known_leaks(versions: Mapping[str, Fact]) -> Iterator[tuple[KnownLeak, str]]:
    """The known leaks that the installed versions have, each with that version."""
    for leak in KNOWN_LEAKS:
        version = versions[leak.library]
        if isinstance(version, str) and leak.is_in(version):
            yield leak, version


def _silent_probes(probes: Iterable[Probe]) -> Iterator[tuple[str, str]]:
    for probe in probes:
        reading = _ask(probe.read)
        if isinstance(reading, NotMeasured):
            yield WHAT_PROBES_GIVE.get(probe.name, probe.name), reading.why


def _out_of_reach(
    versions: Mapping[str, Fact], frameworks: Mapping[str, Fact]
) -> Iterator[tuple[str, str]]:
    tensorflow, driver = versions["tensorflow"], frameworks["nvml"]
    if isinstance(tensorflow, NotMeasured):
        yield "TensorFlow's pools and registries", f"TensorFlow is {tensorflow.why}"
    backend = str(frameworks["backend"]).partition(" ")[0]
    if backend != "tensorflow":
        yield f"the allocator of {backend}", "this release reads only TensorFlow's"
    if isinstance(driver, NotMeasured):
        yield "GPU memory as the driver reports it", driver.why
    else:
        yield (
            "how exact the numbers of a GPU are",
            "Lowwater was tested on a simulated GPU made of host memory, not on real hardware",
        )
