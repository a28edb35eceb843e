"""What a run has written: seen from inside by name, and from outside by comparing its folder."""

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from lowwater.diagnose.files_beside import LEFT_OUT
from lowwater.model.experiment import Fact

MOST_NAMED: Final = 100
_MOST_COMPARED: Final = 50_000
# When, how large, and which file it is.
_Stamp = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Writes:
    """Names in the folder of the run, and paths elsewhere, where a copy does not help."""

    inside: tuple[str, ...] = ()
    outside: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        """Whether there are any."""
        return bool(self.inside or self.outside)

    @classmethod
    def of(cls, facts: Mapping[str, Any], ours: str) -> "Writes":
        """What the recording of a run says; `ours` is the folder of the recordings."""
        names = [*dict.fromkeys([*_names(facts, Fact.CHANGED), *_names(facts, Fact.OPENED)])]
        theirs = [name for name in names if not _is_cache(name, ours)]
        return cls(
            tuple(name for name in theirs if not os.path.isabs(name)),
            tuple(name for name in theirs if os.path.isabs(name)),
        )


class Listing:
    """The files of a folder at one moment, to be compared with those of another."""

    def __init__(self, folder: str) -> None:
        """Take it down; links are not followed."""
        self._folder = os.path.realpath(folder)
        self.stamps: dict[str, _Stamp | None] = {}
        self.is_whole = True
        for name, stamp in _stamped(self._folder):
            if len(self.stamps) >= _MOST_COMPARED:
                self.is_whole = False
                break
            self.stamps[name] = stamp

    def changes_to(self, later: "Listing") -> list[str]:
        """What is new, gone, or not as it was; of a part of a folder only the last."""
        before, after = self.stamps, later.stamps
        names = before.keys() & after.keys()
        if self.is_whole and later.is_whole:
            names = before.keys() | after.keys()
        changed = sorted(name for name in names if before.get(name, ()) != after.get(name, ()))
        # A new folder is told by what is in it.
        around = {os.path.dirname(name) for name in changed}
        return [name for name in changed if name not in around]

    def has(self, name: str) -> bool:
        """Whether it was there, as far as that can be told: not behind a link."""
        where = os.path.dirname(os.path.join(self._folder, name))
        return name in self.stamps or not self.is_whole or os.path.realpath(where) != where


def facts_of(before: Listing, after: Listing, known: Mapping[str, Any]) -> dict[str, Any]:
    """For the recording: what has changed, and of what was opened that which leaves a trace."""
    opened = [
        name
        for name in _names(known, Fact.OPENED)
        if os.path.isabs(name) or before.has(name) or after.has(name)
    ]
    changed = before.changes_to(after)[:MOST_NAMED]
    return {**named(Fact.CHANGED, changed), **named(Fact.OPENED, opened)}


def named(fact: Fact, names: Iterable[str]) -> dict[str, Any]:
    """For the recording; as bytes, for the name of a file may be no text."""
    return {fact.value: [os.fsencode(name) for name in names]}


def _names(facts: Mapping[str, Any], fact: Fact) -> list[str]:
    return [os.fsdecode(name) for name in facts.get(fact, ())]


def _stamped(folder: str) -> Iterator[tuple[str, _Stamp | None]]:
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in LEFT_OUT)
        inside = os.path.relpath(place, folder)
        for name in folders:
            yield os.path.normpath(os.path.join(inside, name)), None
        for name in sorted(files):
            yield os.path.normpath(os.path.join(inside, name)), _stamp(os.path.join(place, name))


def _stamp(path: str) -> _Stamp | None:
    try:
        status = os.lstat(path)
    except OSError:
        return None
    return status.st_ctime_ns, status.st_size, status.st_ino


def _is_cache(name: str, ours: str) -> bool:
    """What is made again anyway: bytecode, our own files, and what libraries keep in the home."""
    path = os.path.abspath(name)
    if LEFT_OUT.intersection(name.split("/")) or path.startswith(os.path.join(ours, "")):
        return True
    return os.path.isabs(name) and any(path.startswith(one) for one in _cache_folders())


def _cache_folders() -> Iterable[str]:
    home = os.path.join(os.path.expanduser("~"), "")
    # ~/.cache, ~/.keras, ~/.nv, ~/.config/matplotlib: results of a program are not there.
    yield f"{home}."
    cache = os.environ.get("XDG_CACHE_HOME")
    if cache:
        yield os.path.join(cache, "")
