"""The files to check: those that are named, and Python files and notebooks below the folders."""

import os
from collections.abc import Iterator, Sequence
from fnmatch import fnmatch

# Never entered unless they are named themselves: nothing in them was written by the user.
_SKIPPED = frozenset(
    {"__pycache__", "node_modules", "site-packages", "dist-packages", "venv", "build", "dist"}
)


def files(paths: Sequence[str], exclude: Sequence[str] = ()) -> Iterator[str]:
    """Each file once, in the order of the names; a folder that leads to itself ends nothing."""
    seen: set[str] = set()
    for path in paths:
        found = _below(path, exclude) if os.path.isdir(path) else [path]
        for one in found:
            real = os.path.realpath(one)
            if real not in seen:
                seen.add(real)
                yield one


def _below(folder: str, exclude: Sequence[str]) -> Iterator[str]:
    # Links to folders are not followed: they may lead back here.
    for current, folders, names in os.walk(folder):
        folders[:] = sorted(
            name
            for name in folders
            if not name.startswith(".")
            and name not in _SKIPPED
            and not is_excluded(os.path.join(current, name), exclude)
        )
        for name in sorted(names):
            path = os.path.join(current, name)
            if name.endswith((".py", ".ipynb")) and not is_excluded(path, exclude):
                yield os.path.normpath(path)


def is_excluded(path: str, patterns: Sequence[str]) -> bool:
    """Whether a path, or a part of it, matches one of the patterns."""
    path = os.path.normpath(path)
    return any(
        fnmatch(path, pattern)
        or fnmatch(os.path.basename(path), pattern)
        or fnmatch(path, f"{pattern.rstrip('/')}/*")
        or fnmatch(path, f"*/{pattern.rstrip('/')}")
        for pattern in patterns
    )
