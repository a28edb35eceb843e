"""What one experiment changes in the program, from inside; undone with the run.

Runs in the watched process: it imports no framework, and acts when the program has imported one.
"""

import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from types import FunctionType, ModuleType
from typing import Any

from lowwater.experiments.kept_short import KeptShort
from lowwater.instrumentation._imports import AfterImport
from lowwater.instrumentation._inject import CannotInject, injected, rebound
from lowwater.instrumentation._placement import innermost

Note = Callable[[str], None]


class Change:
    """Collects changes of libraries, made when those are imported."""

    def __init__(self, note: Note) -> None:
        """What cannot be changed becomes a note: the experiment then proves nothing."""
        self._undo = ExitStack()
        self._note = note
        self.kept_short: KeptShort | None = None

    def when_imported(self, library: str, act: Callable[[ModuleType], None]) -> None:
        """Act once the program has imported a library."""

        def guarded(module: ModuleType) -> None:
            try:
                act(module)
            except Exception as error:  # noqa: BLE001 - the program has to run
                self.failed(f"{library}: {type(error).__name__}: {error}")

        sys.meta_path.insert(0, AfterImport({library: guarded}))

    def rebind(
        self,
        function: Any,  # noqa: ANN401
        argument: str,
        changed: Callable[..., object],
        *others: str,
    ) -> None:
        """Let a function of a library begin with another value for one of its arguments.

        `changed` is given the value, and those of the `others`.
        """

        def guarded(value: Any, *values: Any) -> object:  # noqa: ANN401
            try:
                return changed(value, *values)
            except Exception as error:  # noqa: BLE001 - the program has to run
                self.failed(f"{argument}: {type(error).__name__}: {error}")
                return value

        self._enter(function, lambda plain: rebound(plain, argument, guarded, *others))

    def before(self, function: Any, act: Callable[[], object]) -> None:  # noqa: ANN401
        """Act at the start of each call of a function."""
        self._enter(function, lambda plain: injected(plain, act, "start"))

    def after(self, function: Any, act: Callable[..., object], *arguments: str) -> None:  # noqa: ANN401
        """Act before each `return` of a function, with the values of its `arguments`."""

        def guarded(*values: Any) -> None:  # noqa: ANN401
            try:
                act(*values)
            except Exception as error:  # noqa: BLE001 - the program has to run
                self.failed(f"{type(error).__name__}: {error}")

        self._enter(function, lambda plain: injected(plain, guarded, "end", *arguments))

    def keep_short(self, places: Sequence[str]) -> None:
        """Let containers stay short that the program adds to at these lines."""
        self.kept_short = KeptShort(places, self.failed)

    def _enter(
        self,
        function: Any,  # noqa: ANN401
        change: Callable[[FunctionType], AbstractContextManager[None]],
    ) -> None:
        plain = innermost(function)
        try:
            self._undo.enter_context(change(plain))
        except CannotInject as error:
            self.failed(f"{plain.__qualname__}: {error}")

    def failed(self, why: str) -> None:
        """Say that the change could not be made."""
        self._note(f"experiment not made: {why}")
