"""The map of a pool that TensorFlow writes at a failed allocation: `TF_BFC_MEMORY_DUMP=<prefix>`.

TensorFlow looks for the variable at each failure. It writes a `MemoryDump`, a message of protobuf;
the few fields of it that count are read here, so that nothing is imported when memory is short.
"""

import os
from collections.abc import Iterator
from typing import Final

from lowwater.model.autopsy import Pool
from lowwater.model.interruption import let_through

VARIABLE: Final = "TF_BFC_MEMORY_DUMP"
# 300,000 pieces; more would take too long to read when a program waits for its end.
_MOST_BYTES: Final = 8 << 20
_ALLOCATOR, _CHUNK, _STATS = 1, 3, 5
_SIZE, _IS_USED = 2, 8
_IN_USE = 2
_VARINT, _FIXED_64, _BYTES, _FIXED_32 = 0, 1, 2, 5
_LONGEST_NAME: Final = 80


class Damaged(ValueError):
    """The file is no whole message, or none that is known."""


def newest_pool(prefix: str, allocator: str | None = None) -> Pool | None:
    """The pool of the latest failure, of this allocator where its name is known."""
    paths = dumps(prefix)
    named = [one for one in paths if allocator and f"_{allocator}." in os.path.basename(one)]
    for path in reversed(named or paths):
        try:
            if os.path.getsize(path) <= _MOST_BYTES:
                with open(path, "rb") as file:
                    return pool_of(file.read())
        except (OSError, ValueError) as error:
            let_through(error)
    return None


def dumps(prefix: str) -> list[str]:
    """The files of this prefix, the oldest first: their names end with the time."""
    folder, start = os.path.split(prefix)
    try:
        names = [one for one in os.listdir(folder) if one.startswith(f"{start}_")]
    except OSError as error:
        let_through(error)
        return []
    return [os.path.join(folder, one) for one in sorted(names, key=_time_of)]


def pool_of(data: bytes) -> Pool:
    """What a dump says of its pool, without the limit, which it does not know."""
    name, in_use, size, largest, pieces, free = "", None, 0, 0, 0, 0
    for number, value in _fields(data):
        if number == _ALLOCATOR and isinstance(value, bytes):
            name = value[:_LONGEST_NAME].decode("utf-8", "replace")
        elif number == _CHUNK and isinstance(value, bytes):
            chunk = dict(_fields(value))
            chunk_bytes = _number(chunk.get(_SIZE, 0))
            size += chunk_bytes
            if not chunk.get(_IS_USED):
                free, largest, pieces = free + chunk_bytes, max(largest, chunk_bytes), pieces + 1
        elif number == _STATS and isinstance(value, bytes):
            in_use = _number(dict(_fields(value)).get(_IN_USE, 0))
    return Pool(name, size, size - free if in_use is None else in_use, free, largest, pieces)


def _fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Each field of a message with its number."""
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        number, kind = key >> 3, key & 7
        if kind == _VARINT:
            value, at = _varint(data, at)
            yield number, value
            continue
        if kind == _BYTES:
            length, at = _varint(data, at)
        elif kind in (_FIXED_64, _FIXED_32):
            length = 8 if kind == _FIXED_64 else 4
        else:
            raise Damaged(f"field {number} is of kind {kind}")
        if at + length > len(data):
            raise Damaged("it ends too early")
        yield number, data[at : at + length]
        at += length


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(data) and shift < 70:  # noqa: PLR2004 - ten bytes at the most
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:  # noqa: PLR2004 - the last one
            return value, at
    raise Damaged("a number does not end")


def _number(value: int | bytes) -> int:
    if not isinstance(value, int) or value >> 53:
        raise Damaged("a size is none")
    return value


def _time_of(name: str) -> tuple[int, str]:
    time = name.rpartition(".")[2]
    return (int(time) if time.isdecimal() else 0), name
