"""What one experiment changes in the program, from inside; undone with the run.

Runs in the watched process: it imports no framework, and acts when the program has imported one.
"""

import sys
from collections.abc import Callable
from contextlib import ExitStack
from types import ModuleType
from typing import Any

from lowwater.instrumentation._imports import AfterImport
from lowwater.instrumentation._inject import CannotInject, rebound
from lowwater.instrumentation._placement import innermost

Note = Callable[[str], None]


class Change:
    """Collects changes of libraries, made when those are imported."""

    def __init__(self, note: Note) -> None:
        """What cannot be changed becomes a note: the experiment then proves nothing."""
        self._undo = ExitStack()
        self._note = note

    def when_imported(self, library: str, act: Callable[[ModuleType], None]) -> None:
        """Act once the program has imported a library."""

        def guarded(module: ModuleType) -> None:
            try:
                act(module)
            except Exception as error:  # noqa: BLE001 - the program has to run
                self.failed(f"{library}: {type(error).__name__}: {error}")

        sys.meta_path.insert(0, AfterImport({library: guarded}))

    def rebind(self, function: Any, argument: str, changed: Callable[[Any], object]) -> None:  # noqa: ANN401
        """Let a function of a library begin with another value for one of its arguments."""
        plain = innermost(function)
        try:
            self._undo.enter_context(rebound(plain, argument, changed))
        except CannotInject as error:
            self.failed(f"{plain.__qualname__}: {error}")

    def failed(self, why: str) -> None:
        """Say that the change could not be made."""
        self._note(f"experiment not made: {why}")
