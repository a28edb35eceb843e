"""The objects that a walk has met, as one bit for each place in memory where an object can be.

A set of ten million addresses takes a gigabyte, and twice that while it grows: in a program with
little room the look at it would be what kills it. As bits they take a hundredth of the memory
that the objects are in, whatever their number.
"""

from collections.abc import Collection, Iterable
from typing import Any

# No object is smaller than 16 bytes, so no two begin in the same 16.
_PAGE_BITS = 16
_PAGE_BYTES = 1 << (_PAGE_BITS - 4 - 3)
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
        address = id(thing)
        page, bit = self._pages.get(address >> _PAGE_BITS), _BIT[address >> 4 & 7]
        place = address >> 7 & (_PAGE_BYTES - 1)
        if page is not None and page[place] & bit:
            page[place] ^= bit
            self._count -= 1

    def new_by_kind(self, things: Iterable[Any], skipped: Collection[int]) -> dict[int, list[Any]]:
        """Add many; answers those that are new, by the address of their type.

        Types in `skipped` are passed over. All in one loop, for it runs once for each reference of
        the program.
        """
        pages, groups = self._pages, dict[int, list[Any]]()
        page, page_number, kind_before = bytearray(), -1, -1
        for thing in things:
            kind = id(type(thing))
            if kind in skipped:
                continue
            address = id(thing)
            # Neighbours in a list are neighbours in memory, mostly.
            if address >> _PAGE_BITS != page_number:
                page_number = address >> _PAGE_BITS
                known = pages.get(page_number)
                if known is None:
                    known = pages[page_number] = bytearray(_PAGE_BYTES)
                page = known
            place, bit = address >> 7 & (_PAGE_BYTES - 1), _BIT[address >> 4 & 7]
            if page[place] & bit:
                continue
            page[place] |= bit
            if kind != kind_before:
                append, kind_before = groups.setdefault(kind, []).append, kind
            append(thing)
        self._count += sum(map(len, groups.values()))
        return groups

    def clear(self) -> None:
        """Forget all."""
        self._pages.clear()
        self._count = 0
