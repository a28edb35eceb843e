"""Whose a file is: the user's own, a library's, or ours."""

import os
import sys

OWN_FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
# Where pip or the system puts packages, wherever that is.
_PACKAGES = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")


def _places() -> tuple[str, ...]:
    """The folders of ours, of Python's own library and of the virtual environment."""
    folders = [OWN_FOLDER, os.path.dirname(os.__file__)]
    if sys.prefix != sys.base_prefix:
        folders.append(sys.prefix)
    return tuple(os.path.join(os.path.realpath(folder), "") for folder in folders)


_INSTALLED = _places()


def is_own(filename: str) -> bool:
    """Whether a file is one of Lowwater's: a reader of a traceback or a line wants none of them."""
    return filename.startswith(OWN_FOLDER)


def is_installed(filename: str) -> bool:
    """Whether a file lies in a place where pip or the system put it."""
    real = os.path.realpath(filename)
    return real.startswith(_INSTALLED) or any(folder in real for folder in _PACKAGES)


def is_users(filename: str) -> bool:
    """Whether a file is the program's: neither ours, nor of a library, nor of Python itself."""
    return not filename.startswith("<frozen") and not is_installed(filename)
