"""A first look at the bytes of a file: whether a cause can be in it. Nothing is parsed."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
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


# A code and which of its two groups of words was seen.
Seen = frozenset[tuple[str, int]]


@cache
def _words() -> dict[bytes, tuple[tuple[str, int], ...]]:
    """Each word once, with the groups that it is in."""
    found: dict[bytes, tuple[tuple[str, int], ...]] = {}
    for cause in SOURCE_CAUSES:
        for number, words in enumerate((cause.words, cause.words_beside)):
            for word in words:
                key = word.encode()
                found[key] = (*found.get(key, ()), (cause.code, number))
    return found


@cache
def _groups() -> Seen:
    return frozenset(key for keys in _words().values() for key in keys)


ALL_CODES: Final = frozenset(cause.code for cause in SOURCE_CAUSES)
# Asked with `--preview` only: a file that only these may be in is not parsed without it.
PREVIEWS: Final = frozenset(cause.code for cause in SOURCE_CAUSES if cause.is_preview)


def _seen(data: bytes) -> Seen:
    seen: set[tuple[str, int]] = set()
    for word, keys in _words().items():
        if not seen.issuperset(keys) and word in data:
            seen.update(keys)
    return frozenset(seen)


def _codes(seen: Seen) -> frozenset[str]:
    """The causes of which all that they need was seen."""
    return ALL_CODES - {code for code, _ in _groups() - seen}


def own_codes(data: bytes) -> frozenset[str]:
    """The causes of which a file has the words."""
    return _codes(_seen(data))


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


@dataclass(frozen=True, slots=True)
class OwnWords:
    """What a look at the bytes of one file shows, whatever is around it."""

    seen: Seen
    is_about: bool
    imports: tuple[tuple[str, int], ...]


def own_words(data: bytes) -> OwnWords:
    """Look at the bytes of a file."""
    return OwnWords(_seen(data), is_about_frameworks(data), tuple(dict.fromkeys(imports(data))))


class WordSearch:
    """Says which causes to ask about a file, from its words and those of what it imports."""

    def __init__(
        self, find: Find, read: Read, look: Callable[[bytes], OwnWords] = own_words
    ) -> None:
        """`find` gives the path of a module of the project, `read` its bytes.

        `look` looks at bytes, or knows what was seen in them before.
        """
        self._find, self._read, self._look = find, read, look
        self._known: dict[tuple[str, int], tuple[Seen, bool]] = {}

    def codes(self, path: str, data: bytes) -> frozenset[str]:
        """The codes of all causes that may be in a file; none where no framework is in reach."""
        seen, is_about = self._reach(path, data, _DEEPEST)
        return _codes(seen) if is_about else frozenset()

    def _reach(self, path: str, data: bytes, depth: int) -> tuple[Seen, bool]:
        own = self._look(data)
        seen, is_about = own.seen, own.is_about
        if not depth or (is_about and len(seen) == len(_groups())):
            return seen, is_about
        for dotted, level in own.imports:
            found = self._find(dotted, path, level)
            if found is not None and found != path:
                more, is_more = self._reach_of(found, depth - 1)
                seen, is_about = seen | more, is_about or is_more
        return seen, is_about

    def _reach_of(self, path: str, depth: int) -> tuple[Seen, bool]:
        key = (path, depth)
        if key not in self._known:
            self._known[key] = (frozenset(), False)
            data = self._read(path)
            if data is not None:
                self._known[key] = self._reach(path, data, depth)
        return self._known[key]
