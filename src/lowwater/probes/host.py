"""What the kernel sees: resident memory, split by kind."""

import re

# By our own names: tests and fake file systems replace those of `os` while the program runs.
from os import O_RDONLY
from os import close as _close
from os import open as _open
from os import read as _read

from lowwater.model import NotMeasured, Reading
from lowwater.model.gauges import RSS_ANON, RSS_FILE, RSS_SHMEM
from lowwater.model.interruption import let_through

_PEAK = re.compile(rb"VmHWM:\s*(\d+) kB")
_KINDS = re.compile(rb"RssAnon:\s*(\d+) kB\s+RssFile:\s*(\d+) kB\s+RssShmem:\s*(\d+) kB")


class HostProbe:
    """Reads `/proc/self/status`: 10 µs, against 7 ms for `smaps_rollup`."""

    name = "host"

    def __init__(self, path: str = "/proc/self/status") -> None:
        """Read from `path`, which a test may replace."""
        self._path = path

    def read(self) -> Reading | NotMeasured:
        """Anonymous, file-backed and shared resident bytes."""
        try:
            found = _KINDS.search(_start_of(self._path))
        except OSError as error:
            let_through(error)
            return NotMeasured(f"{self._path}: {error.strerror}")
        if found is None:
            return NotMeasured(f"{self._path} does not split resident memory by kind")
        anon, file_backed, shared = (int(kib) * 1024 for kib in found.groups())
        return Reading({RSS_ANON: anon, RSS_FILE: file_backed, RSS_SHMEM: shared})


def peak_bytes(path: str = "/proc/self/status") -> int | None:
    """The most resident memory that a process ever had, while it lives."""
    try:
        found = _PEAK.search(_start_of(path))
    except OSError as error:
        let_through(error)
        return None
    return int(found[1]) * 1024 if found else None


def _start_of(path: str) -> bytes:
    """Opened anew each time: a kept descriptor would show in the program's own count."""
    descriptor = _open(path, O_RDONLY)
    try:
        return _read(descriptor, 8192)
    finally:
        _close(descriptor)
