"""Where a recording lies while it is written, and how it comes to where the user wants it."""

import fcntl
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from lowwater.errors import UsageError
from lowwater.recording.frames import MAGIC

_NAME = MAGIC[:-1]
# What is still being written, or was when Lowwater itself was killed.
PART = ".part"


@dataclass(slots=True)
class RecordingFile:
    """A recording in the making; `problem` says why it will not be kept."""

    path: str
    wanted: str | None = None
    problem: str | None = None

    def keep(self) -> str | None:
        """Put it where it is wanted, whole and at once; answers what went wrong."""
        if self.wanted is None or self.problem is not None:
            return self.problem
        if is_foreign(self.wanted):
            return f"{self.wanted} was written by another program: the recording is in {self.path}"
        try:
            os.replace(self.path, self.wanted)
        except OSError as error:
            return f"the recording is in {self.path}: {error.strerror or error}"
        return None


@contextmanager
def recording_at(wanted: str | None) -> Iterator[RecordingFile]:
    """A place to record to, always; beside the wanted one until the run is over."""
    with ExitStack() as stack:
        if wanted is None:
            yield RecordingFile(_elsewhere(stack))
            return
        wanted = os.path.realpath(wanted)
        if os.path.exists(wanted) and not os.path.isfile(wanted):
            problem = f"{wanted} is not a regular file"
            yield RecordingFile(_elsewhere(stack), wanted, problem)
            return
        try:
            path = _locked(stack, wanted + PART, wanted)
        except OSError as error:
            problem = f"the recording cannot be kept in {wanted}: {error.strerror or error}"
            path = _elsewhere(stack)
            yield RecordingFile(path, wanted, problem)
            return
        yield RecordingFile(path, wanted)


def check_place(wanted: str, script: str) -> None:
    """Refuse a file that would be lost, or that nobody could read back."""
    advice = "lowwater run --record run.lw script.py"
    if os.path.exists(wanted) and os.path.exists(script) and os.path.samefile(wanted, script):
        msg = "--record would overwrite the script"
        raise UsageError(msg, received=wanted, advice=advice)
    if os.path.exists(wanted) and _kind_of(wanted) in (stat.S_IFIFO, stat.S_IFSOCK):
        msg = "--record needs a regular file, but this is a pipe or a socket"
        raise UsageError(msg, received=wanted, advice=advice)
    if is_foreign(wanted):
        msg = "--record would overwrite a file that is not a Lowwater recording"
        raise UsageError(msg, received=wanted, advice=advice)


def is_foreign(path: str) -> bool:
    """Whether there is a file that Lowwater has not made."""
    if not os.path.isfile(path):
        return False
    try:
        with open(path, "rb") as file:
            head = file.read(len(_NAME))
    except OSError:
        return False
    return head not in {b"", _NAME}


def _locked(stack: ExitStack, part: str, wanted: str) -> str:
    """Make the file, and keep others from recording to it at the same time."""
    if is_foreign(part):
        msg = "--record writes to this file first, but it is not a Lowwater recording"
        raise UsageError(msg, received=part, advice="remove it, or use another file for --record")
    descriptor = os.open(part, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    stack.callback(os.close, descriptor)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        msg = "another run is recording to this file"
        raise UsageError(msg, received=wanted, advice="use another file for --record") from None
    return part


def _elsewhere(stack: ExitStack) -> str:
    """In a temporary folder, or in memory where there is none that can be written to."""
    try:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="lowwater-"))
    except OSError:
        descriptor = os.memfd_create("lowwater")
        stack.callback(os.close, descriptor)
        return f"/proc/{os.getpid()}/fd/{descriptor}"
    return os.path.join(folder, "run.lw")


def _kind_of(path: str) -> int:
    return stat.S_IFMT(os.stat(path).st_mode)
