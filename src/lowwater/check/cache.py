"""What was found before: kept by the content of each file, and of all that its findings rest on."""

import contextlib
import hashlib
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

import msgspec

from lowwater.check.one_file import CheckedFile
from lowwater.check.words import OwnWords, own_words

FOLDER: Final = ".lowwater_cache"
_NAME: Final = "check.msgpack"
_WITH_PREVIEW: Final = "check-preview.msgpack"
# Contents that were seen once and are gone: dropped when they are so many.
_MOST_WORDS: Final = 20_000
_ENGINE: Final = ("check", "causes", "model")


@dataclass(frozen=True, slots=True)
class Lookup:
    """A module that was looked for, and the content that was found; both may be missing."""

    dotted: str
    importer: str
    level: int
    path: str | None
    content: str


@dataclass(frozen=True, slots=True)
class Kept:
    """The findings in a file of this content, as long as all that it asked for is the same."""

    content: str
    checked: CheckedFile
    asked: tuple[Lookup, ...] = ()


@dataclass(slots=True)
class CacheFile:
    """All that is kept, by path; of no use to another engine."""

    engine: str = ""
    files: dict[str, Kept] = field(default_factory=dict)
    # What was seen in files of these contents, most of which were not parsed for it.
    words: dict[str, OwnWords] = field(default_factory=dict)


def content_of(data: bytes) -> str:
    """What tells one content from another."""
    return hashlib.blake2b(data, digest_size=16).hexdigest()


class Cache:
    """Reads what was found before, and keeps what is found now."""

    def __init__(self, folder: str | None, *, with_preview: bool) -> None:
        """Without a folder, nothing is read or kept."""
        name = _WITH_PREVIEW if with_preview else _NAME
        self._path = None if folder is None else os.path.join(folder, FOLDER, name)
        self._engine = engine()
        found = self._read()
        self._before, self._words = found.files, found.words
        self._now: dict[str, Kept] = {}
        self._words_now: dict[str, OwnWords] = {}

    def own_words(self, data: bytes) -> OwnWords:
        """What a look at these bytes shows, or has shown before."""
        content = content_of(data)
        found = self._words.get(content)
        if found is None:
            found = own_words(data)
        self._words_now[content] = found
        return found

    def _read(self) -> CacheFile:
        if self._path is None:
            return CacheFile()
        try:
            with open(self._path, "rb") as stream:
                found = msgspec.msgpack.decode(stream.read(), type=CacheFile)
        except (OSError, msgspec.MsgspecError, ValueError, RecursionError):
            return CacheFile()
        return found if found.engine == self._engine else CacheFile()

    def get(
        self,
        path: str,
        content: str,
        find: Callable[[str, str, int], str | None],
        content_at: Callable[[str], str],
    ) -> CheckedFile | None:
        """What was found in a file that is as it was, in a project that is as it was to it."""
        kept = self._before.get(path)
        if kept is None or kept.content != content:
            return None
        for one in kept.asked:
            found = find(one.dotted, one.importer, one.level)
            if found != one.path or (found is not None and content_at(found) != one.content):
                return None
        self._now[path] = kept
        return kept.checked

    def put(self, path: str, kept: Kept) -> None:
        """Keep what was found."""
        self._now[path] = kept

    def write(self) -> None:
        """Write it whole or not at all; what was kept of other files stays."""
        is_same = all(self._before.get(path) is kept for path, kept in self._now.items())
        if self._path is None or (is_same and self._words_now.keys() <= self._words.keys()):
            return
        files = {**self._before, **self._now}
        words = {**self._words, **self._words_now}
        if len(words) > _MOST_WORDS:
            words = self._words_now
        with contextlib.suppress(OSError):
            folder = os.path.dirname(self._path)
            os.makedirs(folder, exist_ok=True)
            ignored = os.path.join(folder, ".gitignore")
            if not os.path.exists(ignored):
                _write(ignored, b"*\n")
            _write(self._path, msgspec.msgpack.encode(CacheFile(self._engine, files, words)))


def _write(path: str, data: bytes) -> None:
    partial = f"{path}.{os.getpid()}"
    try:
        with open(partial, "wb") as stream:
            stream.write(data)
        os.replace(partial, path)
    finally:
        with contextlib.suppress(OSError):
            os.unlink(partial)


def engine() -> str:
    """What would find something else: another Python, or other files of ours."""
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    parts = [sys.version]
    for folder in _ENGINE:
        for current, _, names in os.walk(os.path.join(root, folder)):
            for name in sorted(names):
                if name.endswith(".py"):
                    seen = os.stat(os.path.join(current, name))
                    parts.append(f"{name} {seen.st_size} {seen.st_mtime_ns}")
    return content_of("\n".join(parts).encode())
