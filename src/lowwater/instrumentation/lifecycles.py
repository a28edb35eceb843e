"""Lives of models and sessions: built, closed, gone. Watched weakly, never kept."""

import sys
import weakref
from collections.abc import Callable, Iterator
from types import CodeType, ModuleType
from typing import Any

from lowwater.gauges import MODELS, SESSIONS
from lowwater.instrumentation._placement import Placement, innermost
from lowwater.instrumentation._tick import Passes, tick_for
from lowwater.model import NotMeasured, Reading

# How far up a Sequential stands above the constructor of its inner model.
_NEAR = 6


class Lives:
    """Counts the living objects of one kind; each birth is a boundary."""

    def __init__(self, passes: Passes) -> None:
        """Nobody lives yet."""
        self._tick = tick_for(passes)
        self._living: dict[int, weakref.ref[Any]] = {}
        self.was_used = False
        self.makers_of_parts: set[CodeType] = set()

    def __len__(self) -> int:
        """How many live now."""
        return len(self._living)

    def born(self, newborn: Any) -> None:  # noqa: ANN401 - a model or a session
        """A life begins, unless this is a second constructor of the same object."""
        self.was_used = True
        identity = id(newborn)
        if identity in self._living or self._is_part():
            return
        self._tick()
        self._living[identity] = weakref.ref(newborn, lambda _: self._living.pop(identity, None))

    def _is_part(self) -> bool:
        """Whether this is being made inside another one: the inner model of a Sequential."""
        frame = sys._getframe(2)  # noqa: SLF001 - the public way costs milliseconds
        callers: list[CodeType] = []
        while frame.f_back is not None and len(callers) < _NEAR:
            frame = frame.f_back
            callers.append(frame.f_code)
        return not self.makers_of_parts.isdisjoint(callers)

    def ended(self, closed: Any) -> None:  # noqa: ANN401
        """A life ends before the object does: a session was closed."""
        self._living.pop(id(closed), None)


class LifecycleProbe:
    """Tells how many models and sessions live."""

    name = "lifecycles"

    def __init__(self, models: Lives, sessions: Lives) -> None:
        """Read these counts."""
        self._lives = {MODELS: models, SESSIONS: sessions}

    def read(self) -> Reading | NotMeasured:
        """The counts of the kinds that the program has used."""
        counts = {name: len(lives) for name, lives in self._lives.items() if lives.was_used}
        return Reading(counts) if counts else NotMeasured("no model and no session was made")


def model_placements(
    keras: ModuleType, models: Lives, passes_of: Callable[[str], Passes]
) -> Iterator[Placement]:
    """Births of models, and `clear_session` calls."""
    clear_session = innermost(_clear_session_of(keras))
    yield Placement(clear_session, tick_for(passes_of("clear_session")), "start")
    models.makers_of_parts.add(innermost(keras.Sequential.build).__code__)
    yield Placement(innermost(keras.Model.__init__), models.born, "start", ("self",))


def session_placements(session: ModuleType, sessions: Lives) -> Iterator[Placement]:
    """Sessions of `tf.compat.v1`, by the base class of all of them."""
    base = session.BaseSession
    yield Placement(innermost(base.__init__), sessions.born, "start", ("self",))
    yield Placement(innermost(base.close), sessions.ended, "end", ("self",))


def _clear_session_of(keras: ModuleType) -> Any:  # noqa: ANN401 - a function of the library
    """Keras 3 has it in `utils`, `tf_keras` in `backend`."""
    utils = getattr(keras, "utils", None)
    return getattr(utils, "clear_session", None) or keras.backend.clear_session
