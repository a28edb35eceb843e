"""Gives each run a copy of the present folder, so that it writes there."""

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Final

from lowwater.diagnose.copied_folder import copy_folder, entries
from lowwater.errors import UsageError, UserError
from lowwater.model.units import format_bytes

_LARGEST_COPY: Final = 500 << 20


def sandboxes() -> Callable[[], AbstractContextManager[str]]:
    """One for each run; refused at once where the folder is too large for that."""
    here = os.getcwd()
    _check_size(here)
    return lambda: _copy_of(here)


@contextmanager
def _copy_of(folder: str) -> Iterator[str]:
    """Gone after the run: a dozen of them would fill a disk."""
    with tempfile.TemporaryDirectory(prefix="lowwater-", ignore_cleanup_errors=True) as outside:
        # Under its own name: programs look at it.
        copy = os.path.join(os.path.realpath(outside), os.path.basename(folder) or "root")
        try:
            copy_folder(folder, copy)
        except OSError as error:
            msg = f"cannot copy {folder}"
            advice = "make room in the temporary folder, or use --yes to run here"
            raise UserError(msg, received=error.strerror or str(error), advice=advice) from error
        yield copy


def _check_size(folder: str) -> None:
    """No further than it matters: it could be the folder of a whole home."""
    size, by_links = 0, dict[str, int]()
    # Where the copy would be: nothing is made there yet.
    nowhere = os.path.join(tempfile.gettempdir(), "lowwater-copy", "folder")
    for one in entries(folder, nowhere):
        size += one.size_bytes
        if one.by_link:
            by_links[one.by_link] = by_links.get(one.by_link, 0) + one.size_bytes
        if size > _LARGEST_COPY:
            raise _too_large(folder, size, by_links)


def _too_large(folder: str, size: int, by_links: dict[str, int]) -> UsageError:
    largest = max(by_links, key=by_links.__getitem__, default="")
    if largest and by_links[largest] > size / 2:
        name = os.path.relpath(largest, os.path.realpath(folder))
        msg = f"the target of the link {name} is too large to copy for every run"
        received = f"{os.path.realpath(largest)}, more than {format_bytes(size)}"
        advice = "point it to a smaller sample, or use --yes to run here"
        return UsageError(msg, received=received, advice=advice)
    msg = "this folder is too large to copy for every run"
    advice = "start from a smaller folder, or use --yes to run here"
    return UsageError(msg, received=f"{folder}, more than {format_bytes(size)}", advice=advice)
