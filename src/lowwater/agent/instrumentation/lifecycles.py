"""Lives of models and sessions: built, closed, gone. Watched weakly, never kept."""

import sys
import weakref
from collections import Counter, deque
from collections.abc import Callable, Iterator
from functools import partial
from types import CodeType, ModuleType
from typing import Any, NamedTuple

from lowwater.agent.instrumentation._placement import Placement, innermost
from lowwater.agent.instrumentation._tick import Passes, tick_for
from lowwater.agent.instrumentation.calls import Calls
from lowwater.model import NotMeasured, Reading
from lowwater.model.gauges import MODELS, SESSIONS
from lowwater.model.interruption import quietly

# How far up a Sequential stands above the constructor of its inner model.
_NEAR = 6


class _Reference(weakref.ref[Any]):
    """Knows the address of its object also when that is gone."""

    __slots__ = ("address",)
    address: int


class Life(NamedTuple):
    """One living object, held weakly, and the line of the program that made it."""

    reference: _Reference
    kind: str
    where: tuple[str, int] | None
    about: str

    @property
    def label(self) -> tuple[str, tuple[str, int] | None, str]:
        """What it shares with others of its kind."""
        return self.kind, self.where, self.about


# All that are counting now, so that somebody who meets an object can ask for its birthplace.
_counting: "weakref.WeakSet[Lives]" = weakref.WeakSet()


class Lives:
    """Counts the living objects of one kind."""

    def __init__(
        self,
        calls: Calls,
        about: Callable[[Any], str] = lambda _: "",
        counted_as: str | None = None,
    ) -> None:
        """Nobody lives yet; `about` says at birth what there is to say of one.

        With `counted_as` births are counted among the calls: the dead leave no other trace.
        """
        self._count = calls.counter(counted_as) if counted_as else None
        self._calls = calls
        self._about = about
        self._living: dict[int, Life] = {}
        # Python discards what is raised when an object dies, a signal handler's exceptions too. So
        # the dead are only put aside then, without running any Python.
        self._dead: deque[_Reference] = deque()
        self.was_used = False
        self.makers_of_parts: set[CodeType] = set()
        _counting.add(self)

    def __len__(self) -> int:
        """How many live now."""
        return len(self._now_living())

    def births(self, passes: Passes) -> Callable[[Any], None]:
        """A callable to be placed into the constructor: each birth is a boundary."""
        tick, look = tick_for(passes), passes.look

        def pass_boundary() -> None:
            if tick():
                look()

        return partial(self.born, first=pass_boundary)

    def born(self, newborn: Any, first: Callable[[], None] | None = None) -> None:  # noqa: ANN401
        """A life begins, unless this is a second constructor of the same object.

        What is done `first` finds the others alive, and not this one.
        """
        self.was_used = True
        identity = id(newborn)
        if identity in self._now_living() or self._is_part():
            return
        if first is not None:
            first()
        if self._count is not None:
            self._count()
        reference = _Reference(newborn, self._dead.append)
        reference.address = identity
        kind, where = type(newborn).__qualname__, self._calls.where()
        self._living[identity] = Life(reference, kind, where, self._about(newborn))

    def birthplace(self, thing: Any) -> tuple[str, int] | None:  # noqa: ANN401
        """The file and the line that made a living object, if its birth was seen."""
        life = self._now_living().get(id(thing))
        return life.where if life is not None and life.reference() is thing else None

    def living(self) -> list[Any]:
        """All that live now; for a moment only, they are the program's."""
        held = [life.reference() for life in [*self._now_living().values()]]
        return [thing for thing in held if thing is not None]

    def by_label(self) -> Counter[tuple[str, tuple[str, int] | None, str]]:
        """How many live, by their class, the line that made them, and what is said of them."""
        return Counter(life.label for life in [*self._now_living().values()])

    def _now_living(self) -> dict[int, Life]:
        """Those that live, by their address, once the dead are taken out."""
        while self._dead:
            gone = self._dead.popleft()
            life = self._living.get(gone.address)
            # Another object may live at the same address by now.
            if life is not None and life.reference is gone:
                del self._living[gone.address]
        return self._living

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


def birthplace(thing: Any) -> tuple[str, int] | None:  # noqa: ANN401
    """The file and the line of the program that made an object, where somebody watched it."""
    places = (lives.birthplace(thing) for lives in [*_counting])
    return next((place for place in places if place is not None), None)


class LifecycleProbe:
    """Tells how many models and sessions live."""

    name = "lifecycles"

    def __init__(self, models: Lives, sessions: Lives) -> None:
        """Read these counts."""
        self._lives = {MODELS: models, SESSIONS: sessions}

    def read(self) -> Reading | NotMeasured:
        """The counts of the kinds that the program has used."""
        counts = {name: len(lives) for name, lives in self._lives.items() if lives.was_used}
        return Reading(counts) if counts else NotMeasured("no model and no session was created")


def model_placements(
    keras: ModuleType, models: Lives, passes_of: Callable[[str], Passes], calls: Calls
) -> Iterator[Placement]:
    """Births of models, and `clear_session` calls."""
    name = "clear_session"
    cleared = calls.counter(name, passes_of(name))
    yield Placement(innermost(_clear_session_of(keras)), cleared, "start")
    models.makers_of_parts.add(innermost(keras.Sequential.build).__code__)
    births = models.births(passes_of("model"))
    yield Placement(innermost(keras.Model.__init__), births, "start", ("self",))


def session_placements(
    session: ModuleType, sessions: Lives, passes_of: Callable[[str], Passes]
) -> Iterator[Placement]:
    """Sessions of `tf.compat.v1`, by the base class of all of them."""
    base = session.BaseSession
    births = sessions.births(passes_of("session"))
    yield Placement(innermost(base.__init__), births, "start", ("self",))
    yield Placement(innermost(base.close), sessions.ended, "end", ("self",))


def _clear_session_of(keras: ModuleType) -> Any:  # noqa: ANN401 - a function of the library
    """Keras 3 has it in `utils`, `tf_keras` in `backend`."""
    utils = getattr(keras, "utils", None)
    return getattr(utils, "clear_session", None) or keras.backend.clear_session


def dataset_placements(module: ModuleType, datasets: Lives) -> Iterator[Placement]:
    """Births of the data sets that keep elements in memory."""
    for name in ("CacheDataset", "_ShuffleDataset"):
        kind = vars(module).get(name)
        if kind is not None:
            yield Placement(innermost(kind.__init__), datasets.born, "end", ("self",))


def about_dataset(dataset: Any) -> str:  # noqa: ANN401
    """Whether a cache lies in a file, and whether what it caches ever ends."""
    said: list[str] = []
    # Not a cache, not eager, or of another release: the program's own call must not fail for it.
    with quietly():
        said += ["in a file"] if dataset._filename.numpy() else []  # noqa: SLF001
    with quietly():
        said += ["endless"] if _is_endless(dataset) else []
    return ", ".join(said)


def _is_endless(dataset: Any) -> bool:  # noqa: ANN401
    """Whether a `repeat()` without an end stands before it; no operation is run to find out."""
    while (dataset := getattr(dataset, "_input_dataset", None)) is not None:
        count: Any = getattr(dataset, "_count", None)
        if type(dataset).__name__ == "_RepeatDataset" and hasattr(count, "numpy"):
            return bool(count.numpy() < 0)
    return False
