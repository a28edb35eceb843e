"""What one experiment changes in the program, from inside, for the whole run.

Runs in the watched process: it imports no framework, and acts when the program has imported one.
"""

import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from functools import partial
from types import FunctionType, ModuleType
from typing import Any

from lowwater.agent.instrumentation._imports import AfterImport
from lowwater.agent.instrumentation._inject import CannotInject, injected, rebound
from lowwater.agent.instrumentation._placement import innermost
from lowwater.agent.instrumentation.keras_calls import CALLS
from lowwater.diagnose.kept_short import KeptShort
from lowwater.diagnose.let_go import LetGo
from lowwater.diagnose.paths import Hop
from lowwater.diagnose.rounds import Rounds
from lowwater.model import Topic
from lowwater.model.experiment import Fact
from lowwater.model.frameworks import KERAS

# More of them say no more to a reader.
_MOST_NAMES = 3
Note = Callable[[str, Topic], None]


class Change:
    """Collects changes of libraries, made when those are imported."""

    def __init__(self, note: Note, learn: Callable[[dict[str, Any]], None] | None = None) -> None:
        """What cannot be changed becomes a note: the experiment then proves nothing.

        `learn` records what became known.
        """
        self._learn = learn
        # What is done at a boundary of one unit, before anything is measured there.
        self.at_boundaries: list[tuple[tuple[str, str | None], Callable[[], object]]] = []
        # What was changed stays so: the run ends with its process.
        self._made = ExitStack()
        self._note = note
        self._said: set[str] = set()
        self._counts_calls = False
        self.kept_short: KeptShort | None = None
        self.rounds = Rounds()

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

    def in_every_round(self, act: Callable[[], object]) -> None:
        """Act in every round of the program's loops, in every epoch, and at every call of Keras."""
        self.rounds.add(self._guarded(act))
        if not self._counts_calls:
            self._counts_calls = True
            for library in KERAS:
                self.when_imported(library, self._count_calls)

    def keep_short(self, places: Sequence[str], *, after_rounds: int = 0) -> None:
        """Let containers stay short that the program adds to at these lines."""

        def may_grow() -> bool:
            return self.rounds.made < after_rounds

        self.kept_short = KeptShort(places, may_grow, self._failed_in_part)
        self.in_every_round(self.kept_short.forget_results)

    def let_go(self, unit: tuple[str, str | None], paths: Sequence[Sequence[Hop]]) -> None:
        """Take old items out of what these paths lead to, at each boundary of the unit."""
        cut: dict[str, list[str]] = {}

        def was_cut(number: int, below: str) -> None:
            names = cut.setdefault(str(number), [])
            is_new = not names or (below and below not in names and len(names) < _MOST_NAMES)
            if is_new:
                names.append(below)
                if self._learn is not None:
                    self._learn({Fact.PATHS_CUT: {key: [*below] for key, below in cut.items()}})

        self.at_boundary(unit, LetGo(paths, was_cut, self._failed_in_part).cut)

    def at_boundary(self, unit: tuple[str, str | None], act: Callable[[], object]) -> None:
        """Act at each boundary of one unit, in the growth of which the experiment is judged."""
        self.at_boundaries.append((unit, self._guarded(act)))

    def pass_boundary(self, name: str, where: str | None) -> None:
        """A boundary is there, and nothing was measured yet."""
        for (wanted, line), act in self.at_boundaries:
            # Where the epochs of the program are is known only when it has ended.
            if wanted == name and where in (None, line):
                act()

    def _guarded(self, act: Callable[[], object]) -> Callable[[], None]:
        def guarded() -> None:
            try:
                act()
            except Exception as error:  # noqa: BLE001 - the program has to run
                self.failed(f"{type(error).__name__}: {error}")

        return guarded

    def _count_calls(self, keras: ModuleType) -> None:
        self.before(keras.callbacks.CallbackList.on_epoch_end, self.rounds.passed)
        for name in CALLS:
            self.before(getattr(keras.Model, name), partial(self.rounds.passed, is_outer=False))

    def _enter(
        self,
        function: Any,  # noqa: ANN401
        change: Callable[[FunctionType], AbstractContextManager[None]],
    ) -> None:
        plain = innermost(function)
        try:
            self._made.enter_context(change(plain))
        except CannotInject as error:
            self.failed(f"{plain.__qualname__}: {error}")

    def failed(self, why: str) -> None:
        """Say that the change could not be made."""
        self._say(why, Topic.NOT_MADE)

    def _failed_in_part(self, why: str) -> None:
        """Say that something was left as it is: then only a difference proves something."""
        self._say(why, Topic.MADE_IN_PART)

    def _say(self, text: str, topic: Topic) -> None:
        """Once: it may be said again in every round."""
        if text not in self._said:
            self._said.add(text)
            self._note(text, topic)
