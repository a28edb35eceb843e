"""Let the program's own callbacks act once only, where the program needs what they make."""

import functools
from collections.abc import Callable
from types import ModuleType
from typing import Any

from lowwater.diagnose.change import Change
from lowwater.diagnose.factors._factor import Factor
from lowwater.diagnose.facts import Facts
from lowwater.diagnose.look import STEPS_OF, flattened, is_meant, parts_of, spans_of
from lowwater.model.frameworks import KERAS

# ruff: noqa: ANN401 - callbacks of the program


class MutedCallbacks(Factor):
    """Each of their methods is let through the first time; afterwards nothing new is kept."""

    key = "muted-callbacks"
    asks = "callbacks"
    name = "your callbacks run only once"
    cleared = "not your callbacks"
    blamed = "one of your callbacks"
    codes = ("LW101",)

    def parts(self, facts: Facts) -> dict[str, str]:
        """Each of them."""
        return parts_of(facts)

    def part_name(self, detail: str) -> str:
        """It is there all the same."""
        return f"{detail} runs only once"

    def places(self, facts: Facts, detail: str) -> tuple[str, ...]:
        """The code of all of them, or of one."""
        return spans_of(facts, detail)

    def apply(self, change: Change, detail: str) -> None:
        """They stay in the list, and are silent."""
        acted: set[tuple[type, str]] = set()

        def muted(callbacks: Any) -> Any:
            for one in flattened(callbacks):
                if is_meant(one, detail):
                    _mute(one, acted)
            return callbacks

        def place(keras: ModuleType) -> None:
            change.rebind(keras.Model.fit, "callbacks", muted)
            # `fit` gives its own list to `evaluate`, from which they are gone already.
            for call in STEPS_OF.keys() - {"fit"}:
                change.rebind(
                    getattr(keras.Model, call),
                    "callbacks",
                    lambda given: given if hasattr(given, "callbacks") else muted(given),
                )

        for library in KERAS:
            change.when_imported(library, place)


def _mute(callback: Any, acted: set[tuple[type, str]]) -> None:
    for name in dir(type(callback)):
        if name.startswith("on_") and not isinstance(getattr(callback, name), _Once):
            setattr(callback, name, _Once(getattr(callback, name), (type(callback), name), acted))


class _Once:
    """A method that acts at its first call, whichever callback of its class that is."""

    def __init__(
        self, method: Callable[..., Any], name: tuple[type, str], acted: set[tuple[type, str]]
    ) -> None:
        functools.update_wrapper(self, method)
        self._method = method
        self._name = name
        self._acted = acted

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        if self._name in self._acted:
            return None
        self._acted.add(self._name)
        return self._method(*arguments, **named)
