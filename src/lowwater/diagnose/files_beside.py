"""The files of a folder, as far as they can be the program's own."""

import os
from collections.abc import Iterator
from pathlib import Path

# Environments, caches and histories: large, and the same in every run.
LEFT_OUT = frozenset(
    ".git .hg .svn .venv venv env .tox .nox .mypy_cache .ruff_cache .pytest_cache "
    "__pycache__ node_modules site-packages".split()
)


def files_in(folder: str) -> Iterator[Path]:
    """Each of them, in a fixed order."""
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in LEFT_OUT)
        yield from (Path(place, name) for name in sorted(files))
