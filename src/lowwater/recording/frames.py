"""The file format: a magic line, then frames that can be cut off at any byte.

A frame is `length (u32) · crc32 (u32) · payload`, little-endian. A torn last frame is what
SIGKILL leaves behind and is dropped in silence; a frame whose checksum is wrong is damage.
"""

import struct
import zlib
from collections.abc import Iterator

from lowwater.errors import UnreadableInput

FORMAT_VERSION = 2
_NAME = b"LOWWATER"
MAGIC = _NAME + bytes([FORMAT_VERSION])
_FRAME = struct.Struct("<II")


def frame(payload: bytes) -> bytes:
    """Wrap one record so that a reader can tell whether it is whole."""
    return _FRAME.pack(len(payload), zlib.crc32(payload)) + payload


def check_magic(data: bytes, source: str) -> None:
    """Refuse what is not a recording that this release can read."""
    advice = "lowwater run --record FILE script.py makes a new recording"
    if not data.startswith(_NAME) or len(data) < len(MAGIC):
        begins = repr(data[:8]) if data else "an empty file"
        msg = f"{source} is not a Lowwater recording"
        raise UnreadableInput(msg, received=begins, advice=advice)
    version = data[len(_NAME)]
    if version > FORMAT_VERSION:
        msg = f"{source} was recorded by a newer Lowwater"
        received = f"format {version}, this release reads up to {FORMAT_VERSION}"
        raise UnreadableInput(msg, received=received, advice="pip install --upgrade lowwater")


def whole_frames(data: bytes, source: str, start: int = len(MAGIC)) -> Iterator[tuple[bytes, int]]:
    """Yield each whole payload with the offset at which it ends; stop at a torn tail."""
    while start + _FRAME.size <= len(data):
        length, checksum = _FRAME.unpack_from(data, start)
        end = start + _FRAME.size + length
        if end > len(data):
            return
        payload = data[start + _FRAME.size : end]
        if zlib.crc32(payload) != checksum:
            msg = f"{source} is damaged"
            raise UnreadableInput(
                msg, received=f"a wrong checksum at byte {start}", advice="record the run again"
            )
        yield payload, end
        start = end
