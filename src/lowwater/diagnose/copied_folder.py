"""Copies a folder so that nothing that is written in the copy gets out of it.

A link is made anew: to the same place in the copy, or, where it leads out of the folder, it
becomes a copy of what is there.
"""

import os
import shutil
import stat
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from lowwater.diagnose.files_beside import LEFT_OUT

_Root = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing to be copied: from where, to where, and for a link what it says.

    `by_link` is the link in the folder by which it was found, if it is not in the folder.
    """

    source: str
    target: str
    size_bytes: int = 0
    is_folder: bool = False
    points_to: str | None = None
    by_link: str = ""


def copy_folder(folder: str, copy: str) -> None:
    """Make the copy; what disappears meanwhile, or may not be read, is left out."""
    folders: list[Entry] = []
    for one in entries(folder, copy):
        with suppress(FileNotFoundError, PermissionError):
            _make(one)
            folders += [one] if one.is_folder else []
    # At last: one that may not be written to has to be filled before.
    for one in reversed(folders):
        with suppress(OSError):
            shutil.copystat(one.source, one.target)


def entries(folder: str, copy: str) -> Iterator[Entry]:
    """All that belongs into the copy, each folder before what is in it."""
    here = os.path.realpath(folder)
    # What is copied where: links among it stay links, so that loops end.
    roots: list[_Root] = [(here, copy)]
    waiting: list[tuple[str, str, str]] = [(here, copy, "")]
    while waiting:
        source, target, by_link = waiting.pop()
        if os.path.islink(source):
            meant = os.path.realpath(source)
            copied = _copy_of(meant, roots)
            if copied is not None:
                points_to = os.path.relpath(copied, os.path.dirname(target))
                yield Entry(source, target, points_to=points_to)
                continue
            roots.append((meant, target))
            source, by_link = meant, by_link or source
        # A link may lead to where the copy is made.
        if source == os.path.dirname(copy):
            continue
        one = _entry(source, target, by_link)
        if one is not None:
            yield one
        if one is not None and one.is_folder:
            inside = _names_in(source)
            waiting += [
                (os.path.join(source, name), os.path.join(target, name), by_link) for name in inside
            ]


def _copy_of(path: str, roots: Sequence[_Root]) -> str | None:
    for source, target in roots:
        if path == source or path.startswith(os.path.join(source, "")):
            return os.path.normpath(os.path.join(target, os.path.relpath(path, source)))
    return None


def _entry(source: str, target: str, by_link: str) -> Entry | None:
    """None for what cannot be copied: sockets and pipes, and what may not be read or is gone."""
    try:
        status = os.lstat(source)
    except OSError:
        return None
    is_folder = stat.S_ISDIR(status.st_mode)
    if not (is_folder or stat.S_ISREG(status.st_mode)) or not os.access(source, os.R_OK):
        return None
    size = 0 if is_folder else status.st_size
    return Entry(source, target, size, is_folder, by_link=by_link)


def _names_in(folder: str) -> list[str]:
    try:
        return sorted((name for name in os.listdir(folder) if name not in LEFT_OUT), reverse=True)
    except OSError:
        return []


def _make(one: Entry) -> None:
    if one.points_to is not None:
        os.symlink(one.points_to, one.target)
    elif one.is_folder:
        os.mkdir(one.target, 0o700)
    else:
        shutil.copy2(one.source, one.target)
