"""Appends records to the file; a full disk costs records, never the program."""

import contextlib
import os

# By our own names: tests and fake file systems replace those of `os` while the program runs.
from os import close as _close
from os import fstat as _fstat
from os import write as _write

from lowwater.recording.frames import MAGIC, frame
from lowwater.recording.records import Noted, Record, encode


class Writer:
    """One process, one writer: each record is one `write`, so a kill tears at most the last."""

    def __init__(self, path: str) -> None:
        """Start a new recording at `path`, replacing what was there."""
        self._path = os.path.abspath(path)
        self._fd: int | None = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        self._identity = _identity(self._fd)
        self._good_end = 0
        self._lost = 0
        self._append(MAGIC)

    def append(self, record: Record, elapsed_us: int = 0) -> None:
        """Write one record, or count it as lost."""
        if self._fd is None:
            return
        self._append(frame(encode(record)))
        if self._lost and self._append(frame(encode(Noted(elapsed_us, self._loss())))):
            self._lost = 0

    def close(self) -> None:
        """Stop writing; safe to call twice, and in a forked child."""
        if self._fd is not None and self._is_ours():
            _close(self._fd)
        self._fd = None

    def _loss(self) -> str:
        return f"{self._lost} records could not be written: the disk was full"

    def _append(self, data: bytes) -> bool:
        written = 0
        if self._is_ours() or self._reopen():
            assert self._fd is not None
            with contextlib.suppress(OSError):
                written = _write(self._fd, data)
        if written == len(data):
            self._good_end += written
            return True
        self._lost += 1
        self._drop_torn_frame()
        return False

    def _is_ours(self) -> bool:
        """Whether the descriptor is still our file: a daemon closes all, and reuses the numbers."""
        return self._fd is not None and _identity(self._fd) == self._identity

    def _reopen(self) -> bool:
        try:
            self._fd = os.open(self._path, os.O_RDWR)
            # The number of a deleted file may be given to another: look inside as well.
            begins_like_ours = os.pread(self._fd, len(MAGIC), 0) == MAGIC
            os.lseek(self._fd, self._good_end, os.SEEK_SET)
        except OSError:
            return False
        if not begins_like_ours:
            self._identity = (0, 0)
        return self._is_ours()

    def _drop_torn_frame(self) -> None:
        if self._is_ours():
            assert self._fd is not None
            with contextlib.suppress(OSError):  # of a device such as /dev/full nothing can be cut
                os.ftruncate(self._fd, self._good_end)
                os.lseek(self._fd, self._good_end, os.SEEK_SET)


def _identity(descriptor: int) -> tuple[int, int] | None:
    try:
        status = _fstat(descriptor)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def append_after_end(path: str, records: list[Record]) -> str | None:
    """Add the supervisor's records to a file whose writer is gone; return what went wrong."""
    from lowwater.recording.reader import end_of_whole_frames

    if not os.path.isfile(path):
        return None  # reading it back will say what is wrong
    try:
        with open(path, "r+b") as file:
            end = end_of_whole_frames(file.read(), path)
            file.truncate(end)
            file.seek(end)
            file.write(b"".join(frame(encode(record)) for record in records))
    except OSError as error:
        return f"the recording could not be completed: {error.strerror or error}"
    return None
