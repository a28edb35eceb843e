"""How results lie in their file, so that damage costs no more than what it has hit.

A frame is `mark · number (u64) · length (u64) · crc32 of the payload · crc32 of these three ·
payload`, little-endian. No payload holds the mark, so a frame ends where the next one begins, and
the one behind a damaged one is found again. The checksum of the header tells a last frame that
was not finished, which is what SIGKILL leaves behind, from one whose length is wrong. The numbers
go up by one, so a gap tells how many were lost.

Files of the first version have frames of `length (u32) · crc32 (u32) · payload`. New frames are
written behind those: they begin like an empty frame with a wrong checksum, which a release that
does not know them refuses.
"""

import errno
import os
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, pairwise

# Not part of any UTF-8 text.
MARK = b"\0\0\0\0\xf5LW\x8bresult\xfe\n"
_HEADER = struct.Struct("<QQI")
_CHECKSUM = struct.Struct("<I")
_HEADER_BYTES = len(MARK) + _HEADER.size + _CHECKSUM.size
_FIRST_HEADER = struct.Struct("<II")
# With what each result of the first version begins: a map of five, of which the key is the first.
_FIRST_MARK = b"\x85\xa3key"
# A number above is none of ours.
_MOST_FRAMES = 1 << 48
_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class Payload:
    """Where one lies, and what it has to be."""

    start: int
    length: int
    checksum: int

    @property
    def end(self) -> int:
        """Where the next frame may begin."""
        return self.start + self.length

    def is_whole(self, file: int) -> bool:
        """Whether it is what was written; a large one is not held in memory."""
        checksum = 0
        for at in range(self.start, self.end, _CHUNK):
            checksum = zlib.crc32(_read(file, at, min(_CHUNK, self.end - at)), checksum)
        return checksum == self.checksum

    def read(self, file: int) -> bytes | None:
        """Itself; None when it has been damaged meanwhile."""
        data = _read(file, self.start, self.length)
        return data if zlib.crc32(data) == self.checksum else None


def frame(number: int, payload: bytes) -> bytes:
    """Wrap a payload that does not hold the mark."""
    header = _HEADER.pack(number, len(payload), zlib.crc32(payload))
    return b"".join([MARK, header, _CHECKSUM.pack(zlib.crc32(header)), payload])


class Frames:
    """The whole frames of a file; what else was met is known when all were asked for."""

    def __init__(self, file: int, start: int, size: int) -> None:
        """Look at this part of the file, up to its end."""
        self._file = file
        self._start = start
        self._size = size
        # Where a frame that was not finished begins.
        self.torn_at: int | None = None
        # Whether there is damage behind the last whole frame.
        self.ends_damaged = False

    def __iter__(self) -> Iterator[tuple[int, Payload]]:
        """Each with its number. One pass, however the file is damaged."""
        marks = _places(self._file, MARK, self._start, self._size)
        for start, end in pairwise(chain([self._start], marks, [self._size])):
            if start == end:
                continue
            header = _header(_read(self._file, start, min(_HEADER_BYTES, end - start)))
            if header is None or not self._is_whole(payload := _payload(start, header), end):
                self._note_rest(start, end)
                continue
            self.ends_damaged = False
            yield header[0], payload
            if payload.end < end:
                self._note_rest(payload.end, end)

    def _is_whole(self, payload: Payload, end: int) -> bool:
        return payload.end <= end and payload.is_whole(self._file)

    def _note_rest(self, start: int, end: int) -> None:
        """What is no whole frame was not finished, or is damaged."""
        data = _read(self._file, start, min(_HEADER_BYTES, end - start))
        if end == self._size and _is_torn(data, end - start):
            self.torn_at = start
        else:
            self.ends_damaged = True


def first_mark(file: int, start: int, size: int) -> int:
    """Where the first frame begins; the end of the file if there is none."""
    return next(_places(file, MARK, start, size), size)


class FirstFramesDamaged(Exception):
    """Frames of the first version cannot be told apart behind the damage."""


def first_frames(file: int, start: int, end: int) -> Iterator[Payload]:
    """The frames of the first version, up to one that was not finished."""
    while start + _FIRST_HEADER.size <= end:
        header = _read(file, start, _FIRST_HEADER.size)
        payload = Payload(start + len(header), *_FIRST_HEADER.unpack(header))
        if payload.end > end:
            behind = _places(file, _FIRST_MARK, payload.start + 1, end)
            if next(behind, None) is not None:  # then it is its length that is wrong
                raise FirstFramesDamaged
            return
        if not payload.is_whole(file):
            raise FirstFramesDamaged
        yield payload
        start = payload.end


def _header(data: bytes) -> tuple[int, int, int] | None:
    """Number, length and checksum, if they are what was written."""
    fields = data[len(MARK) : len(MARK) + _HEADER.size]
    checksum = data[len(MARK) + _HEADER.size :]
    if not data.startswith(MARK) or checksum != _CHECKSUM.pack(zlib.crc32(fields)):
        return None
    number, length, of_payload = _HEADER.unpack(fields)
    return (number, length, of_payload) if number < _MOST_FRAMES else None


def _payload(start: int, header: tuple[int, int, int]) -> Payload:
    return Payload(start + _HEADER_BYTES, *header[1:])


def _is_torn(data: bytes, length: int) -> bool:
    """Whether these last bytes are the beginning of a frame."""
    if length < _HEADER_BYTES:
        return data[: len(MARK)] == MARK[: len(data)]
    header = _header(data)
    return header is not None and _HEADER_BYTES + header[1] > length


def _places(file: int, mark: bytes, start: int, end: int) -> Iterator[int]:
    """Where the mark is; holes of a file, which may be huge, are not read."""
    while start < end:
        start = max(start, _data_from(file, start, end) - len(mark))
        chunk = _read(file, start, min(_CHUNK, end - start))
        found = chunk.find(mark)
        while found >= 0:
            yield start + found
            found = chunk.find(mark, found + 1)
        if len(chunk) < _CHUNK:
            return
        start += len(chunk) - len(mark) + 1


def _data_from(file: int, start: int, end: int) -> int:
    """Where something was written, from here on."""
    try:
        return os.lseek(file, start, os.SEEK_DATA)
    except OSError as error:  # nothing was, or the file system cannot tell
        return end if error.errno == errno.ENXIO else start


def _read(file: int, start: int, length: int) -> bytes:
    """All of it, or what is left of a file that was cut off meanwhile."""
    parts: list[bytes] = []
    while length and (data := os.pread(file, length, start)):
        parts.append(data)
        start, length = start + len(data), length - len(data)
    return parts[0] if len(parts) == 1 else b"".join(parts)
