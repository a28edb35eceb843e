"""The objects that a walk has met, as one bit for each place in memory where an object can be.

A set of ten million addresses takes a gigabyte, and twice that while it grows: in a program with
little room the look at it would be what kills it. As bits they take a hundredth of the memory
that the objects are in, whatever their number.
"""

from collections.abc import Callable, Collection, Iterable
from typing import Any

# The address of an object in units of 16 bytes: none is smaller, so no two begin in the same 16.
# `id` tells it as well, but each call is an audit event, and a program may listen to these.
place_of: Callable[[object], int] = object.__hash__
# Bits of a place within its page.
_PAGE_BITS = 12
_PAGE_BYTES = 1 << (_PAGE_BITS - 3)
_BIT = tuple(1 << number for number in range(8))
# A page, its name in the dictionary, and the dictionary's entry while it doubles.
_HELD_PER_PAGE = _PAGE_BYTES + 300


class Addresses:
    """A set of objects by their addresses; holds none of them."""

    def __init__(self) -> None:
        """Begin with none."""
        self._pages: dict[int, bytearray] = {}
        self._count = 0

    def __len__(self) -> int:
        """How many objects were added."""
        return self._count

    @property
    def held_bytes(self) -> int:
        """What this set itself takes."""
        return len(self._pages) * _HELD_PER_PAGE

    def add(self, thing: Any) -> bool:  # noqa: ANN401
        """Add one object; False where it was there already."""
        return bool(self.new_by_kind((thing,), ()))

    def discard(self, thing: Any) -> None:  # noqa: ANN401
        """Take one object out."""
        place = place_of(thing)
        page, bit = self._pages.get(place >> _PAGE_BITS), _BIT[place & 7]
        byte = place >> 3 & (_PAGE_BYTES - 1)
        if page is not None and page[byte] & bit:
            page[byte] ^= bit
            self._count -= 1

    def new_by_kind(self, things: Iterable[Any], skipped: Collection[int]) -> dict[int, list[Any]]:
        """Add many; answers those that are new, by the place of their type.

        Types in `skipped` are passed over. All in one loop: it runs once for each reference of the
        program.
        """
        pages, groups, of = self._pages, dict[int, list[Any]](), place_of
        page, page_number, kind_before = bytearray(), -1, -1
        for thing in things:
            kind = of(type(thing))
            if kind in skipped:
                continue
            place = of(thing)
            # Neighbours in a list are neighbours in memory, mostly.
            if place >> _PAGE_BITS != page_number:
                page_number = place >> _PAGE_BITS
                known = pages.get(page_number)
                if known is None:
                    known = pages[page_number] = bytearray(_PAGE_BYTES)
                page = known
            byte, bit = place >> 3 & (_PAGE_BYTES - 1), _BIT[place & 7]
            if page[byte] & bit:
                continue
            page[byte] |= bit
            if kind != kind_before:
                append, kind_before = groups.setdefault(kind, []).append, kind
            append(thing)
        self._count += sum(map(len, groups.values()))
        return groups

    def clear(self) -> None:
        """Forget all."""
        self._pages.clear()
        self._count = 0
