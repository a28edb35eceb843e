"""Appends records to the file; a full disk costs records, never the program."""

import os

# By our own names: tests and fake file systems replace those of `os` while the program runs.
from os import close as _close
from os import fstat as _fstat
from os import ftruncate as _ftruncate
from os import lseek as _lseek
from os import open as _open
from os import pread as _pread
from os import write as _write
from typing import Any

import msgspec

from lowwater.errors import UnreadableInput
from lowwater.model.interruption import let_through, quietly
from lowwater.recording.descriptors import out_of_the_way
from lowwater.recording.frames import MAGIC, frame
from lowwater.recording.records import Identified, Noted, Record, encode

_REPLACED = "the recording was replaced by another file, which was left alone"


def start_recording(path: str) -> int:
    """A new recording at `path`, in place of what was there; answers its descriptor."""
    descriptor = _open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with quietly(OSError):  # a full disk: whoever reads it back says so
        _write(descriptor, MAGIC + frame(encode(Identified(os.urandom(8).hex()))))
    return out_of_the_way(descriptor)


class Writer:
    """One process, one writer: each record is one `write`, so a kill tears at most the last."""

    def __init__(self, path: str, descriptor: int | None = None) -> None:
        """Go on with the recording that was started at `path`, or start one."""
        self._path = os.path.abspath(path)
        self._fd: int | None = start_recording(path) if descriptor is None else descriptor
        os.set_inheritable(self._fd, False)  # noqa: FBT003
        self._identity = _identity(self._fd)
        self._good_end = os.fstat(self._fd).st_size
        self._head = _head(self._fd)
        self._lost = 0

    def append(self, record: Record, elapsed_us: int = 0) -> None:
        """Write one record, or count it as lost."""
        if self._fd is None:
            return
        self._append(record)
        if self._lost and self._append(Noted(elapsed_us, self._loss())):
            self._lost = 0

    def close(self) -> None:
        """Stop writing; safe to call twice, and in a forked child."""
        if self._fd is not None and self._is_ours():
            _close(self._fd)
        self._fd = None

    def _loss(self) -> str:
        return f"{self._lost} records could not be written: the disk was full"

    def _append(self, record: Record) -> bool:
        written, data = 0, b"?"
        with quietly():
            data = frame(encoded(record))
            if self._is_ours() or self._reopen():
                assert self._fd is not None
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
            descriptor = _open(self._path, os.O_RDWR | os.O_CLOEXEC)
        except OSError as error:
            let_through(error)
            return False
        # The number of a deleted file may be given to another: look inside as well.
        if _identity(descriptor) != self._identity or _head(descriptor) != self._head:
            _close(descriptor)
            return False
        self._fd = out_of_the_way(descriptor)
        _lseek(self._fd, self._good_end, os.SEEK_SET)
        return True

    def _drop_torn_frame(self) -> None:
        if self._is_ours():
            assert self._fd is not None
            with quietly(OSError):  # of a device such as /dev/full nothing can be cut
                _ftruncate(self._fd, self._good_end)
                _lseek(self._fd, self._good_end, os.SEEK_SET)


def encoded(record: Record) -> bytes:
    """The record as bytes; text that no file can hold is spelled out.

    Names of files, variables and attributes may be of any bytes, which Python keeps as surrogates.
    """
    try:
        return encode(record)
    except UnicodeEncodeError:
        return msgspec.msgpack.encode(_spelled_out(msgspec.to_builtins(record)))


def _spelled_out(plain: Any) -> Any:  # noqa: ANN401 - whatever a record holds
    match plain:
        case str():
            return plain.encode("utf-8", "backslashreplace").decode()
        case list() | tuple():
            return [_spelled_out(part) for part in plain]
        case dict():
            return {_spelled_out(key): _spelled_out(value) for key, value in plain.items()}
    return plain


def _identity(descriptor: int) -> tuple[int, int] | None:
    try:
        status = _fstat(descriptor)
    except OSError as error:
        let_through(error)
        return None
    return status.st_dev, status.st_ino


# The magic and the first record, which is the same in no other recording.
_HEAD_BYTES = len(MAGIC) + len(frame(encode(Identified(8 * "00"))))


def _head(descriptor: int) -> bytes:
    with quietly(OSError):
        return _pread(descriptor, _HEAD_BYTES, 0)
    return b""


def head_of(path: str) -> bytes:
    """What tells this recording from every other file; empty where there is none."""
    try:
        with open(path, "rb") as file:
            head = file.read(_HEAD_BYTES)
    except OSError as error:
        let_through(error)
        return b""
    return head if head.startswith(MAGIC) else b""


def append_after_end(path: str, records: list[Record], head: bytes = MAGIC) -> str | None:
    """Add the supervisor's records to a file whose writer is gone; return what went wrong.

    Nothing is added to a file that does not begin with this `head`.
    """
    from lowwater.recording.reader import end_of_whole_frames

    if not os.path.isfile(path):
        return None  # reading it back will say what is wrong
    try:
        with open(path, "r+b") as file:
            data = file.read()
            if not data.startswith(head or MAGIC):
                return _REPLACED
            end = end_of_whole_frames(data, path)
            file.truncate(end)
            file.seek(end)
            file.write(b"".join(frame(encoded(record)) for record in records))
    except OSError as error:
        let_through(error)
        return f"the recording could not be completed: {error.strerror or error}"
    except UnreadableInput as error:
        return f"the recording could not be completed: {error}"
    return None
