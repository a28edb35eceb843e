"""Which files are Lowwater's own: a reader of a traceback or a line wants none of them."""

import os

OWN_FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


def is_own(filename: str) -> bool:
    """Whether a file is one of ours."""
    return filename.startswith(OWN_FOLDER)
