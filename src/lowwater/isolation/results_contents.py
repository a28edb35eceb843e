"""What a results file holds: read in one pass, with one result at a time in memory."""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import msgspec

from lowwater.errors import UnreadableInput
from lowwater.isolation.results_frames import (
    MARK,
    FirstFramesDamaged,
    Frames,
    Payload,
    first_frames,
    first_mark,
)

_VERSION = 2
MAGIC = b"LOWWATER-RESULTS%d\n" % _VERSION
_ANY_MAGIC = re.compile(rb"LOWWATER-RESULTS(\d+)\n")
_ADVICE = "use another file name"


class Record(msgspec.Struct, omit_defaults=True):
    """One result; without a key, what all of them are of, or what was told about them."""

    key: str = ""
    function: str = ""
    code: str | None = None
    value: bytes = b""
    is_compressed: bool = False
    memory: dict[str, Any] = {}
    elapsed_s: float = 0.0
    attempts: int = 1
    # Pickled, where `on_oom` has made it smaller.
    config: bytes = b""
    reductions: int = 0
    # How many results the user was told are lost.
    told_lost: int = 0


@dataclass(slots=True)
class Contents:
    """The results by their keys, and what else there is to know before more are written."""

    results: dict[str, Payload] = field(default_factory=dict)
    # Those that the results are of; each with the code that it had, if that is known.
    functions: dict[str, str | None] = field(default_factory=dict)
    numbers: set[int] = field(default_factory=set)
    told_lost: int = 0
    # Where what was not finished begins.
    torn_at: int | None = None
    ends_damaged: bool = False
    has_magic: bool = True
    has_origin: bool = False

    @property
    def next_number(self) -> int:
        """The number of the frame to be written next."""
        return max(self.numbers, default=-1) + 1

    @property
    def lost(self) -> int:
        """How many results are missing between others; the first frame is none."""
        behind_first = self.numbers - {0}
        return max(self.next_number - 1, 0) - len(behind_first)

    def take(self, record: Record, payload: Payload) -> None:
        """Add what a frame holds."""
        if record.key:
            self.results[record.key] = payload
        if record.function and not (record.key and record.function in self.functions):
            self.functions[record.function] = None if record.key else record.code
        self.has_origin |= bool(record.function and not record.key)
        self.told_lost = max(self.told_lost, record.told_lost)


def decoded(payload: bytes | None) -> Record | None:
    """What a payload says; None if it is not one of ours, whatever its checksum says."""
    try:
        return msgspec.msgpack.decode(payload or b"", type=Record)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def contents_of(file: int, path: str) -> Contents:
    """Read all that is whole; what is not a results file is refused."""
    size, contents = os.fstat(file).st_size, Contents()
    version = _version(os.pread(file, len(MAGIC) + len(MARK), 0), path)
    if version is None:
        contents.has_magic, contents.torn_at = False, 0
        return contents
    start = len(MAGIC)
    if version == 1:
        start = first_mark(file, start, size)
        _take_first_frames(contents, file, start, path)
    frames = Frames(file, start, size)
    for number, payload in frames:
        record = decoded(payload.read(file))
        if record is not None:
            contents.numbers.add(number)
            contents.take(record, payload)
    # What was not finished in the first version stays: its length may be what is wrong.
    contents.torn_at = frames.torn_at
    contents.ends_damaged = frames.ends_damaged
    return contents


def _version(beginning: bytes, path: str) -> int | None:
    """Of the format; None if not even the first line was finished."""
    if MAGIC.startswith(beginning):
        return _VERSION if beginning == MAGIC else None
    told = _ANY_MAGIC.match(beginning)
    version = int(told[1]) if told is not None else 0
    if version > _VERSION:
        raise UnreadableInput(
            f"{path} was written by a newer Lowwater",
            received=f"format {version}, this release reads up to {_VERSION}",
            advice="pip install --upgrade lowwater",
        )
    # A damaged first line costs nothing where a frame stands behind it.
    if not version and not beginning.endswith(MARK):
        raise UnreadableInput(
            f"{path} is not a results file of map(), or its beginning is damaged", advice=_ADVICE
        )
    return version or _VERSION


def _take_first_frames(contents: Contents, file: int, end: int, path: str) -> None:
    try:
        for record, payload in _first_records(file, end):
            contents.take(record, payload)
    except FirstFramesDamaged:
        raise UnreadableInput(
            f"{path} was written by an older Lowwater and is damaged",
            advice=_ADVICE,
        ) from None


def _first_records(file: int, end: int) -> Iterator[tuple[Record, Payload]]:
    for payload in first_frames(file, len(MAGIC), end):
        record = decoded(payload.read(file))
        if record is None or not (record.key or record.function):
            raise FirstFramesDamaged
        yield record, payload
