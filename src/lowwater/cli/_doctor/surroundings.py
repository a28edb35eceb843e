"""Where the doctor looks: everything that a test may replace."""

import importlib.metadata
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from lowwater.model import NotMeasured
from lowwater.model.protocols import Probe
from lowwater.probes import malloc_probe
from lowwater.probes.cgroup import CgroupProbe
from lowwater.probes.cpython import CPythonProbe
from lowwater.probes.glibc import malloc_library
from lowwater.probes.host import HostProbe
from lowwater.probes.nvml import Driver

# Text for people, or a number of bytes where the fact's name ends in `_bytes`.
Fact: TypeAlias = str | int | NotMeasured


def installed_version(distribution: str) -> str | None:
    """The version of an installed distribution, without importing it."""
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None


def _probes() -> tuple[Probe, ...]:
    return (HostProbe(), malloc_probe(malloc_library()), CPythonProbe(), CgroupProbe())


@dataclass(frozen=True, slots=True)
class Machine:
    """The machine, the environment and the installed packages, as the doctor sees them."""

    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    root: Path = Path("/")
    # Path.home() raises where there is none.
    home: Path = field(default_factory=lambda: Path(os.path.expanduser("~")))
    platform: str = sys.platform
    version_of: Callable[[str], str | None] = installed_version
    malloc_library: Callable[[], str | None] = malloc_library
    driver: Callable[[], Driver | NotMeasured] = Driver.opened
    probes: tuple[Probe, ...] = field(default_factory=_probes)

    def read(self, path: str) -> str:
        """The text of a file below `root`; an OSError where it cannot be read."""
        return (self.root / path).read_text(encoding="utf-8", errors="replace")


Source: TypeAlias = Callable[[Machine], Fact]
