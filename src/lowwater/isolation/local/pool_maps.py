"""Where TensorFlow draws the map of its pool in a trial: a private folder, gone with the trial."""

import os
import stat
import tempfile

from lowwater.agent.instrumentation.shortages import remove_folder
from lowwater.isolation.local.tree import started_at
from lowwater.model.interruption import quietly
from lowwater.probes.bfc_dump import VARIABLE


def ask_for_maps() -> str | None:
    """The prefix of the maps of this process; None where there are none, or others have them."""
    if VARIABLE in os.environ:
        return None
    folder = _folder(os.getpid(), started_at(os.getpid()) or 0)
    with quietly(OSError):
        os.mkdir(folder, 0o700)
        # Not in `os.environ`, where the function would see it: TensorFlow asks the C library.
        prefix = os.path.join(folder, "map")
        os.putenv(VARIABLE, prefix)
        return prefix
    return None


def remove_maps(process: int, started: int) -> None:
    """Those of a process that has ended, however it did."""
    folder = _folder(process, started)
    with quietly(OSError):
        found = os.lstat(folder)
        if stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid():
            remove_folder(folder)


def _folder(process: int, started: int) -> str:
    return os.path.join(tempfile.gettempdir(), f"lowwater-pool-{process}-{started}")
