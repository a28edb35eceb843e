"""What a repair is: for which releases it is right, what it expects to find, what it changes."""

from collections.abc import Callable
from typing import ClassVar

from lowwater.causes.upstream import KnownLeak
from lowwater.causes.upstream._known_leak import Version, parse_version

Undo = Callable[[], None]


class NotAsExpected(Exception):
    """The library does not look as the repair needs it; the message says where."""


class Repair:
    """One root repair of one known leak; the subclass says how it is done and undone."""

    leak: ClassVar[KnownLeak]
    library: ClassVar[str]
    # Where it mends some of the ways into the leak: which.
    part: ClassVar[str] = ""
    # The first and the last minor release that it was tried on, with all between them.
    first: ClassVar[Version]
    last: ClassVar[Version]

    def is_known_right_for(self, version: str) -> bool:
        """Whether this release lies between the first and the last that were tried."""
        return self.first <= parse_version(version)[: len(self.last)] <= self.last

    @property
    def known(self) -> str:
        """The releases, as a user writes them: `2.16 to 2.21`."""
        return " to ".join(".".join(map(str, version)) for version in (self.first, self.last))

    def check(self) -> None:
        """Raise `NotAsExpected` unless all that will be changed looks as it should."""
        raise NotImplementedError

    def apply(self) -> Undo:
        """Change the library, wholly or not at all."""
        raise NotImplementedError


def expect(truth: object, what: str) -> None:
    """State what the repair relies on."""
    if not truth:
        raise NotAsExpected(what)
