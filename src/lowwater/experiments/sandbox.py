"""Gives each run a copy of the present folder, so that it writes there."""

import os
import shutil
import tempfile
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Final

from lowwater.errors import UsageError
from lowwater.experiments.files_beside import LEFT_OUT, files_in
from lowwater.units import format_bytes

_LARGEST_COPY: Final = 500 << 20


def sandboxes() -> Callable[[], AbstractContextManager[str]]:
    """One for each run; refused at once where the folder is too large for that."""
    here = os.getcwd()
    size = _size_of(here)
    if size > _LARGEST_COPY:
        msg = "this folder is too large to be copied for every run"
        advice = "start it from a smaller one, or with --yes, which runs it here"
        raise UsageError(msg, received=f"{here}, more than {format_bytes(size)}", advice=advice)
    return lambda: _copy_of(here)


@contextmanager
def _copy_of(folder: str) -> Iterator[str]:
    """Gone after the run: a dozen of them would fill a disk."""
    with tempfile.TemporaryDirectory(prefix="lowwater-", ignore_cleanup_errors=True) as outside:
        # Under its own name: programs look at it.
        copy = os.path.join(outside, os.path.basename(folder) or "root")
        shutil.copytree(
            folder, copy, symlinks=True, ignore=_left_out, ignore_dangling_symlinks=True
        )
        yield copy


def _left_out(folder: str, names: Collection[str]) -> set[str]:
    """Sockets and pipes cannot be copied, and what may not be read is not missed."""
    return {name for name in names if name in LEFT_OUT or not _can_be_copied(Path(folder, name))}


def _can_be_copied(path: Path) -> bool:
    if path.is_symlink():
        return True
    return (path.is_file() or path.is_dir()) and os.access(path, os.R_OK)


def _size_of(folder: str) -> int:
    """No further than it matters: it could be the folder of a whole home."""
    size = 0
    for file in files_in(folder):
        size += _bytes_of(file)
        if size > _LARGEST_COPY:
            break
    return size


def _bytes_of(file: Path) -> int:
    try:
        return file.lstat().st_size
    except OSError:
        return 0
