"""Folders and files that only their owner can read: what a program prints may be secret."""

import os
from contextlib import suppress

_FOLDER = 0o700
_FILE = 0o600


def private_folder(path: str) -> None:
    """Make it, and what is missing above it, for the owner alone; an older one is closed, too.

    An OSError says that it cannot be had, or belongs to somebody else.
    """
    above = os.path.dirname(path)
    if above and not os.path.isdir(above):
        private_folder(above)
    with suppress(FileExistsError):
        os.mkdir(path, _FOLDER)
    # Also where it was just made: the mask of the process may have taken more away than that.
    os.chmod(path, _FOLDER)


def close_to_others(folder: str) -> None:
    """Take from others what they may do in a folder and below; an earlier release left it open."""
    for place, folders, files in os.walk(folder):
        for name in folders:
            _restrict(os.path.join(place, name), _FOLDER)
        for name in files:
            _restrict(os.path.join(place, name), _FILE)


def new_private_file(path: str) -> int:
    """A descriptor for writing to an empty file."""
    with suppress(FileNotFoundError):
        os.unlink(path)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _FILE)
    os.fchmod(descriptor, _FILE)
    return descriptor


def _restrict(path: str, mode: int) -> None:
    with suppress(OSError):
        # What a link points to is not ours.
        if not os.path.islink(path) and os.lstat(path).st_mode & 0o077:
            os.chmod(path, mode)
