"""A first look at the bytes of a file: whether a cause can be in it. Nothing is parsed."""

import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Final

from lowwater.causes.catalogue import CAUSES
from lowwater.check.library import is_library

SOURCE_CAUSES: Final = tuple(cause for cause in CAUSES if cause.words)
_FRAMEWORKS: Final = (b"keras", b"tensorflow", b"torch", b"jax")
_IMPORT: Final = re.compile(
    rb"^[ \t]*(?:from[ \t]+(\.*)([.\w]*)[ \t]+import[ \t]+(.*)|import[ \t]+([\w., \t]+))",
    re.MULTILINE,
)
# A module that is imported may pass on what is in another one: `__init__.py` mostly does.
_DEEPEST: Final = 2

Find = Callable[[str, str, int], str | None]
Read = Callable[[str], bytes | None]


@cache
def _words() -> tuple[tuple[str, tuple[bytes, ...]], ...]:
    return tuple(
        (cause.code, tuple(word.encode() for word in cause.words)) for cause in SOURCE_CAUSES
    )


ALL_CODES: Final = frozenset(cause.code for cause in SOURCE_CAUSES)


def own_codes(data: bytes) -> frozenset[str]:
    """The causes of which a file has a word."""
    return frozenset(code for code, words in _words() if any(word in data for word in words))


def is_about_frameworks(data: bytes) -> bool:
    """Whether a file names a framework."""
    return any(name in data for name in _FRAMEWORKS)


def imports(data: bytes) -> Iterator[tuple[str, int]]:
    """The modules that a file may import from the project, with the number of leading dots."""
    for dots, base, names, whole in _IMPORT.findall(data):
        if whole:
            for part in whole.decode().split(","):
                name = part.split()[0] if part.split() else ""
                if name and not is_library(name):
                    yield name, 0
        else:
            dotted, level = base.decode(), len(dots)
            if level or not is_library(dotted):
                yield dotted, level
                for name in re.findall(r"\w+", names.decode("ascii", "replace")):
                    yield f"{dotted}.{name}" if dotted else name, level


class FirstLook:
    """Says which causes to ask about a file, from its words and those of what it imports."""

    def __init__(self, find: Find, read: Read) -> None:
        """`find` gives the path of a module of the project, `read` its bytes."""
        self._find, self._read = find, read
        self._seen: dict[tuple[str, int], tuple[frozenset[str], bool]] = {}

    def codes(self, path: str, data: bytes) -> frozenset[str]:
        """The codes of all causes that may be in a file; none where no framework is in reach."""
        codes, is_about = self._reach(path, data, _DEEPEST)
        return codes if is_about else frozenset()

    def _reach(self, path: str, data: bytes, depth: int) -> tuple[frozenset[str], bool]:
        codes, is_about = own_codes(data), is_about_frameworks(data)
        if not depth or (is_about and codes == ALL_CODES):
            return codes, is_about
        for dotted, level in imports(data):
            found = self._find(dotted, path, level)
            if found is not None and found != path:
                more, is_more = self._reach_of(found, depth - 1)
                codes, is_about = codes | more, is_about or is_more
        return codes, is_about

    def _reach_of(self, path: str, depth: int) -> tuple[frozenset[str], bool]:
        key = (path, depth)
        if key not in self._seen:
            self._seen[key] = (frozenset(), False)
            data = self._read(path)
            if data is not None:
                self._seen[key] = self._reach(path, data, depth)
        return self._seen[key]
