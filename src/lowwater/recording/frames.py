"""The file format: a magic line, then frames that can be cut off at any byte.

A frame is `length (u32) · crc32 (u32) · payload`, little-endian. A torn last frame is what
SIGKILL leaves behind and is dropped in silence; a frame whose checksum is wrong is damage.
"""

import io
import re
import struct
import zlib
from collections.abc import Iterator
from typing import BinaryIO

from lowwater.errors import UnreadableInput

FORMAT_VERSION = 2
_NAME = b"LOWWATER"
MAGIC = _NAME + bytes([FORMAT_VERSION])
_FRAME = struct.Struct("<II")
# The largest frames are the paths of a census and the table of experiments: 100 kB at the most.
MOST_FRAME_BYTES = 4 << 20
# The longest run, with the most loops, makes about 16 MB (see `thinning`).
MOST_BYTES = 32 << 20
# So much of a torn end is searched for a whole frame; a record in it is seldom a kilobyte long.
_MOST_SEARCHED = 1 << 16
_MOST_SUMMED = 16 << 20
# Each is an array whose first item is its name: few places look like the beginning of one.
_RECORD = re.compile(rb"[\x90-\x9f][\xa0-\xbf]")


def frame(payload: bytes) -> bytes:
    """Wrap one record so that a reader can tell whether it is whole."""
    return _FRAME.pack(len(payload), zlib.crc32(payload)) + payload


def check_magic(data: bytes, source: str) -> None:
    """Refuse what is not a recording that this release can read, by its first bytes."""
    advice = "record the run again: lowwater run --record FILE script.py"
    if not data.startswith(_NAME) or len(data) < len(MAGIC):
        begins = repr(data[:8]) if data else "an empty file"
        msg = f"{source} is not a Lowwater recording"
        raise UnreadableInput(msg, received=begins, advice=advice)
    version = data[len(_NAME)]
    if version > FORMAT_VERSION:
        msg = f"{source} was recorded by a newer Lowwater"
        received = f"format {version}, this release reads up to {FORMAT_VERSION}"
        raise UnreadableInput(msg, received=received, advice="pip install --upgrade lowwater")


def payloads_of(file: BinaryIO, source: str) -> Iterator[bytes]:
    """Yield the payloads of a recording, read one by one; stop at a torn tail, refuse damage.

    A tail with a whole frame in it was not torn: the length before it is wrong.
    """
    frames = _Frames(file, source, MOST_FRAME_BYTES)
    for payload, _ in frames:
        yield payload
    if _has_whole_frame(frames.tail):
        raise damaged(source, f"a wrong length at byte {frames.end}")


def whole_frames(data: bytes, source: str, start: int = len(MAGIC)) -> Iterator[tuple[bytes, int]]:
    """Yield each whole payload with the offset at which it ends; stop at a torn tail."""
    file = io.BytesIO(data)
    file.seek(start)
    yield from _Frames(file, source)


def damaged(source: str, received: str) -> UnreadableInput:
    """The error for a file that is not as it was written."""
    return UnreadableInput(f"{source} is damaged", received=received, advice="record the run again")


class _Frames:
    """The whole frames of a file from where it stands; then `tail` is what was left at `end`."""

    def __init__(self, file: BinaryIO, source: str, most_bytes: int | None = None) -> None:
        self._file = file
        self._source = source
        self._most_bytes = most_bytes
        self.end = file.tell()
        self.tail = b""

    def __iter__(self) -> Iterator[tuple[bytes, int]]:
        while len(head := self._file.read(_FRAME.size)) == _FRAME.size:
            length, checksum = _FRAME.unpack(head)
            if self._most_bytes is not None and length > self._most_bytes:
                raise damaged(self._source, f"a record of {length:,} bytes at byte {self.end}")
            payload = self._file.read(length)
            if len(payload) < length:
                self.tail = payload
                return
            if zlib.crc32(payload) != checksum:
                raise damaged(self._source, f"a wrong checksum at byte {self.end}")
            self.end += _FRAME.size + length
            yield payload, self.end


def _has_whole_frame(tail: bytes) -> bool:
    left = _MOST_SUMMED
    for begins in _RECORD.finditer(tail, _FRAME.size, _MOST_SEARCHED):
        length, checksum = _FRAME.unpack_from(tail, begins.start() - _FRAME.size)
        payload = memoryview(tail)[begins.start() : begins.start() + length]
        if len(payload) < length:
            continue
        if zlib.crc32(payload) == checksum:
            return True
        left -= length
        if left < 0:
            return False
    return False
