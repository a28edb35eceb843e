"""Reads a recording back: a Timeline for judging, or new records while it still grows."""

import contextlib
import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

import msgspec

from lowwater.errors import UnreadableInput
from lowwater.model import Timeline
from lowwater.model.units import format_bytes
from lowwater.recording import records
from lowwater.recording.bounds import Bounds, OutOfBounds
from lowwater.recording.fold import MOST_QUOTED, Fold, unknown
from lowwater.recording.frames import (
    MAGIC,
    MOST_BYTES,
    check_magic,
    damaged,
    payloads_of,
    whole_frames,
)


def load(path: str | Path) -> Timeline:
    """Read a whole recording; a torn tail is left out, anything else wrong is UnreadableInput."""
    source = str(path)
    try:
        with _opened(path, source) as file:
            check_magic(file.read(len(MAGIC)), source)
            _check_size(os.fstat(file.fileno()).st_size, source)
            return to_timeline(_decoded(payloads_of(file, source), source))
    except OSError as error:
        msg = f"cannot read {source}"
        raise UnreadableInput(msg, received=error.strerror or str(error)) from error


def _opened(path: str | Path, source: str) -> BinaryIO:
    # Without this flag a FIFO is opened only when somebody writes into it.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    # A device may be endless: /dev/full reads as zeros for ever.
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        msg = f"{source} is not a regular file"
        raise UnreadableInput(msg, advice="lowwater run --record run.lw script.py")
    return os.fdopen(descriptor, "rb")


def _check_size(size_bytes: int, source: str) -> None:
    if size_bytes > MOST_BYTES:
        largest = f"no recording is larger than {format_bytes(MOST_BYTES)}"
        raise damaged(source, f"{format_bytes(size_bytes)}; {largest}")


def end_of_whole_frames(data: bytes, source: str) -> int:
    """The offset behind the last whole frame: where more may be appended."""
    ends = (end for _, end in whole_frames(data, source))
    return max(ends, default=min(len(data), len(MAGIC)))


class Follower:
    """Reads what is new in a recording that another process is writing."""

    def __init__(self, path: str) -> None:
        """Follow the file at `path`, from its beginning; it need not exist yet."""
        self._path = path
        self._offset = len(MAGIC)

    def new_records(self) -> Iterator[records.Record]:
        """All records that became whole since the last call; none behind damage."""
        try:
            with open(self._path, "rb") as file:
                file.seek(self._offset)
                fresh = file.read(MOST_BYTES)
        except OSError:
            return
        read_from = self._offset
        # Who looks on must not stop the run: what is wrong is told when it is over.
        with contextlib.suppress(UnreadableInput):
            for payload, end in whole_frames(fresh, self._path, start=0):
                yield from _decoded([payload], self._path)
                self._offset = read_from + end


def _decoded(payloads: Iterable[bytes], source: str) -> Iterator[records.Record]:
    bounds = Bounds()
    for payload in payloads:
        try:
            record = bounds.checked(records.decode(payload))
        except msgspec.ValidationError as error:
            raise unknown(f"{source} holds a record", error) from error
        except (msgspec.DecodeError, UnicodeDecodeError, OutOfBounds) as error:
            raise damaged(source, str(error)[:MOST_QUOTED]) from error
        except RecursionError as error:
            raise damaged(source, "lists nested too deeply") from error
        yield record


def to_timeline(stream: Iterable[records.Record]) -> Timeline:
    """Fold records into the one object that judging works on."""
    fold = Fold()
    for record in stream:
        fold.add(record)
    return fold.timeline()
