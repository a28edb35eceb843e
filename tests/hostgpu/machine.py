"""A machine with GPUs that are only host memory: the environment that a program finds on it."""

import os
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from hostgpu.build import Built


@dataclass(frozen=True)
class Machine:
    """All programs with the environment of one machine share its devices.

    `device_bytes` has a size for each device. `context_bytes` is what a process takes of a device
    beside its allocations, as CUDA does.
    """

    built: Built
    book: Path
    device_bytes: Sequence[int]
    context_bytes: int = 0

    def environment(
        self, *, nvml_faults: Iterable[str] = (), **settings: str | int | Path
    ) -> dict[str, str]:
        """The environment of a program; README.md lists the faults and the settings.

        A setting is a variable without its prefix: `fail_above=1024` is `HOSTGPU_FAIL_ABOVE`.
        """
        libraries = [str(self.built.folder), *filter(None, [os.environ.get("LD_LIBRARY_PATH")])]
        return {
            **os.environ,
            "TF_CPP_MIN_LOG_LEVEL": "3",
            "TF_PLUGGABLE_DEVICE_LIBRARY_PATH": str(self.built.plugin),
            "LD_LIBRARY_PATH": os.pathsep.join(libraries),
            "HOSTGPU_BOOK": str(self.book),
            "HOSTGPU_DEVICE_BYTES": ",".join(map(str, self.device_bytes)),
            "HOSTGPU_CONTEXT_BYTES": str(self.context_bytes),
            "HOSTGPU_NVML_FAULTS": ",".join(nvml_faults),
            **{f"HOSTGPU_{name.upper()}": str(value) for name, value in settings.items()},
        }

    @contextmanager
    def neighbour(self, device: int, size: int) -> Iterator[subprocess.Popen[str]]:
        """Another process, without TensorFlow, that holds bytes of a device meanwhile."""
        command = [str(self.built.hold), str(device), str(size)]
        with subprocess.Popen(
            command,
            env=self.environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stdout is not None
            answer = process.stdout.readline().strip()
            assert answer == "held", f"{size} bytes of device {device}: {answer}"
            yield process
