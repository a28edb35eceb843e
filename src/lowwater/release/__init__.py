"""Gives memory back: `lowwater.release()`, `lowwater.lifecycle()`, `lowwater.sessions()`.

The package has the name of its main function, and importing a package makes it an attribute of
`lowwater`. So the package itself can be called, in whatever order things are imported.
"""

import sys
from types import ModuleType
from typing import Any

from lowwater.release.api import release
from lowwater.release.life import lifecycle
from lowwater.release.open_sessions import sessions
from lowwater.release.receipt import Receipt


class _Release(ModuleType):
    """This package, which is called like its function."""

    __wrapped__ = staticmethod(release)

    def __call__(self, *objects: Any, **options: Any) -> Receipt:  # noqa: ANN401
        return release(*objects, **options)


sys.modules[__name__].__class__ = _Release

__all__ = ["Receipt", "lifecycle", "release", "sessions"]
