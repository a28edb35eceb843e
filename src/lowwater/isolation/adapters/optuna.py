"""Optuna's trials in another process: a stand-in that asks the real one.

    study.optimize(lowwater.isolated(objective), n_trials=100)

Suggestions, reports and the question whether to prune go to the study at once, whatever its
storage is; `optuna.TrialPruned` comes back like any other exception.
"""

from collections.abc import Callable
from typing import Any

Ask = Callable[..., Any]


def stand_in(ask: Ask) -> Any:  # noqa: ANN401 - Optuna's type, which may not be there
    """A trial that asks the real one for everything that a trial can do."""
    from optuna.trial import BaseTrial

    names = [name for name in dir(BaseTrial) if not name.startswith("_")]
    members = {name: _member(name, getattr(BaseTrial, name), ask) for name in names}
    kind = type("IsolatedTrial", (BaseTrial,), members)
    return kind()


def _member(name: str, original: Any, ask: Ask) -> Any:  # noqa: ANN401
    if isinstance(original, property):
        return property(lambda _: ask(name))

    def method(_: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        return ask(name, *args, **kwargs)

    method.__name__ = name
    return method
