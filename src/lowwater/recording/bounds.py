"""What a recording may say: bounds for each value, each list, and all of them together.

A recording may come from anywhere. Whatever passes here has a size that all to the right of it,
judging and telling, can afford; everything that the agent writes is far within.
"""

from typing import Any, Final, cast

import msgspec

from lowwater.recording.records import Record

# The whole numbers of JSON: 8 PiB, or 285 years in microseconds.
MOST: Final = 1 << 53
# A sentence is shorter; what is longer is cut, for a message of the program may be in it.
MOST_CHARACTERS: Final = 10_000
# Of the items of a map, such as the steps of a path. A record's own lists say it themselves.
MOST_ITEMS: Final = 4096
_DEEPEST: Final = 12
# 64 loops with a million rounds each make five million, as they are counted here: …
MOST_VALUES: Final = 6_000_000
# … a record that holds nothing takes time and memory too.
_VALUES_OF_A_RECORD: Final = 16
_SCALARS: Final = (int, float)


class OutOfBounds(Exception):
    """A value that no honest recording holds; its message says which."""


class Bounds:
    """Checks the records of one file, one after the other."""

    def __init__(self) -> None:
        """Begin with room for all values of a file."""
        self._left = MOST_VALUES
        self._is_too_long = False

    def checked(self, record: Record) -> Record:
        """The record, with strings that are too long cut; OutOfBounds if it cannot be honest."""
        self._is_too_long = False
        self._left -= _VALUES_OF_A_RECORD
        plain = msgspec.to_builtins(record)
        self._check(plain, 0)
        if not self._is_too_long:
            return record
        return cast("Record", msgspec.convert(_cut(plain), Record))

    def _check(self, value: object, depth: int) -> None:
        if isinstance(value, str):
            self._is_too_long |= len(value) > MOST_CHARACTERS
        elif isinstance(value, _SCALARS):
            # Written so that it refuses NaN as well.
            if not -MOST <= value <= MOST:
                raise OutOfBounds(f"the number {value}")
        elif isinstance(value, dict):
            self._check_items([*value, *value.values()], depth, is_in_map=True)
        elif isinstance(value, list | tuple):
            self._check_items(value, depth, is_in_map=False)
        elif value is not None:
            raise OutOfBounds(f"a value of type {type(value).__name__}")

    def _check_items(
        self, items: list[Any] | tuple[Any, ...], depth: int, *, is_in_map: bool
    ) -> None:
        self._left -= len(items)
        if self._left < 0:
            raise OutOfBounds(f"more than {MOST_VALUES:,} values")
        if depth > _DEEPEST:
            raise OutOfBounds(f"lists nested {depth} deep")
        for item in items:
            if is_in_map and isinstance(item, list | tuple) and len(item) > MOST_ITEMS:
                raise OutOfBounds(f"a list of {len(item):,} items")
            self._check(item, depth + 1)


def _cut(value: Any) -> Any:  # noqa: ANN401 - plain data of any kind
    if isinstance(value, str):
        return value if len(value) <= MOST_CHARACTERS else f"{value[:MOST_CHARACTERS]}…"
    if isinstance(value, dict):
        return {_cut(key): _cut(item) for key, item in value.items()}
    return [_cut(item) for item in value] if isinstance(value, list | tuple) else value
