"""What is known of a leak that lives in a library, not in the program."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

Version: TypeAlias = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class KnownLeak:
    """One leak of one library: which releases have it, what it costs, what to do today."""

    code: str
    name: str
    library: str
    affects: Callable[[Version], bool]
    affected: str
    issue: str | None
    what: str
    costs: str
    advice: str

    def is_in(self, version: str) -> bool:
        """Whether this release of the library has the leak."""
        return self.affects(parse_version(version))

    @property
    def reference(self) -> str:
        """Which releases have it, and where it is reported."""
        return self.reported_as(self.issue)

    def reported_as(self, issue: str | None) -> str:
        """The same for one of its forms, which may have a report of its own."""
        reported = f"reported as {issue}" if issue else "no known report"
        return f"A leak in {self.library} ({self.affected}); {reported}."


def since(*oldest: int) -> Callable[[Version], bool]:
    """Affects this release and all later ones."""
    return lambda version: version >= oldest


def parse_version(text: str) -> Version:
    """`2.21.0rc1` -> `(2, 21, 0)`: the leading numbers, which is what leaks are known by."""
    numbers = re.match(r"\d+(?:\.\d+)*", text)
    return tuple(int(number) for number in numbers[0].split(".")) if numbers else ()
