"""A block at whose end the models die that were made inside."""

import functools
import inspect
import sys
import threading
import weakref
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, ParamSpec, Self, TypeVar

from lowwater.errors import UsageError
from lowwater.giveback.block import Block
from lowwater.giveback.frames import running_frames
from lowwater.giveback.holding import reached_from
from lowwater.giveback.in_use import at_work
from lowwater.giveback.ladder import climb
from lowwater.giveback.living import MODEL, Watched, living
from lowwater.giveback.parts import parts_of
from lowwater.giveback.receipt import Receipt, given_back
from lowwater.giveback.request import Level, ReleaseRequest, one_at_a_time
from lowwater.giveback.tracebacks import clear_finished_frames
from lowwater.probes.levels import Levels, levels_now

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")

# Runs that have not ended, on any thread: what is made meanwhile may be anyone's.
_running: "set[_Run]" = set()


@dataclass(eq=False)
class _Run:
    """One time through the block."""

    block: Block
    levels: Levels
    before: dict[int, weakref.ref[Any]]
    handled: BaseException | None
    kept: list[weakref.ref[Any]] = field(default_factory=list)
    thread: int = field(default_factory=threading.get_ident)
    # Whether a block on another thread, or of another task, ran at the same time.
    overlaps: bool = False

    def made(self, one: Watched) -> bool:
        """Whether it was made inside."""
        known = self.before.get(one.identity)
        # The address of something dead may have been given to something new.
        return known is None or known() is not one.reference()


class lifecycle:  # noqa: N801 - reads as a word of the language, like `contextlib.suppress`
    """Free what is created inside the block when the block ends.

        with lowwater.lifecycle("trial 3") as life:
            model = build(config)
            score = model.fit(x, y).history["loss"][-1]
        print(life.receipt)

    Models, layers, optimizers, variables and traced functions that were created inside, and that
    only the block's own variables hold, are emptied. Using one afterwards is an error that names
    this place. `life.keep(model)` keeps one alive. What the program holds elsewhere (in a list,
    in a variable bound before the block, or in one that it reads after the block) stays as it
    is, and the receipt names the holder. An exception passes through; the finished frames of its
    traceback drop their variables.

    It also decorates functions: what such a function returns is kept.
    """

    def __init__(self, name: str | None = None, *, level: Level = "thorough") -> None:
        """`name` stands in the receipt."""
        if not (name is None or isinstance(name, str)):
            raise UsageError(
                "the name of a lifecycle must be a string",
                received=repr(name),
                advice='@lowwater.lifecycle("trial"), with parentheses',
            )
        self.name = name
        self.receipt: Receipt | None = None
        self._level = level
        self._local = threading.local()

    def keep(self, thing: _Result) -> _Result:
        """Keep an object alive after the block, with everything that it holds; return it."""
        runs = self._runs
        if not runs:
            raise UsageError(
                "keep() works only inside the block", advice="call it before the block ends"
            )
        self._innermost().kept += _references(thing)
        return thing

    def __enter__(self) -> Self:
        with one_at_a_time:
            known = {one.identity: one.reference for one in living()}
        run = _Run(Block(), levels_now(), known, sys.exc_info()[1])
        _enter(run)
        self._runs.append(run)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        run = self._innermost()
        self._runs.remove(run)
        with one_at_a_time:
            _running.discard(run)
        if error is None:
            run.block.end()
        else:
            clear_finished_frames(error, run.handled)
        run.handled = None
        try:
            with one_at_a_time:
                self.receipt = self._release(run)
        except Exception as failure:  # noqa: BLE001 - the program's own exception must pass
            told = f"the release failed: {type(failure).__name__}: {failure}"
            self.receipt = Receipt(self.name, notes=(told,))

    def __call__(self, function: Callable[_Parameters, _Result]) -> Callable[_Parameters, _Result]:
        """Make every call of a function such a block."""
        if inspect.iscoroutinefunction(function) or inspect.isgeneratorfunction(function):
            raise UsageError(
                "lifecycle() decorates only plain functions",
                received=f"the coroutine or generator {function.__qualname__}",
                advice="write `with lowwater.lifecycle():` inside it",
            )

        @functools.wraps(function)
        def in_a_lifecycle(*args: _Parameters.args, **kwargs: _Parameters.kwargs) -> _Result:
            with self:
                return self.keep(function(*args, **kwargs))

        return in_a_lifecycle

    @property
    def _runs(self) -> list[_Run]:
        """The runs of this thread that have not ended; a block may be entered again inside."""
        if not hasattr(self._local, "runs"):
            self._local.runs = []
        runs: list[_Run] = self._local.runs
        return runs

    def _innermost(self) -> _Run:
        """The run that calls: the last to begin may be that of a task which waits."""
        frames = running_frames()
        inside = [run for run in self._runs if run.block.is_in(frames)]
        return (inside or self._runs)[-1]

    def _release(self, run: _Run) -> Receipt:
        grown = given_back(levels_now().in_use_bytes, run.levels.in_use_bytes)
        request = ReleaseRequest(
            where=f"the end of lifecycle {self.name!r}, {run.block.where}"
            if self.name
            else f"the end of the lifecycle at {run.block.where}",
            name=self.name,
            level=self._level,
            kept=_kept(run),
            block=run.block,
            grown_bytes=grown,
            looked_for=_looked_for(run),
        )
        request.seen = living()
        request.given = _expected_dead(run, request)
        return climb(request)


def _enter(run: _Run) -> None:
    frames = running_frames()
    with one_at_a_time:
        for other in _running:
            # Around us, or beside us: on another thread, or in a task that waits.
            if other.thread != run.thread or not other.block.is_in(frames):
                other.overlaps = run.overlaps = True
        _running.add(run)


def _looked_for(run: _Run) -> str:
    """What is not left if no survivor is told: no more than that was looked for."""
    if run.overlaps:
        return "no model, optimizer, layer or variable that a variable of the block reaches"
    if any(reference() is not None for reference in run.kept):
        return "nothing of the block except what keep() was given"
    return "no model, optimizer, layer or variable of the block"


def _expected_dead(run: _Run, request: ReleaseRequest) -> list[Watched]:
    spared = _at_work_parts(run, request) | request.kept
    born = [one for one in request.seen if run.made(one) and one.identity not in spared]
    if run.overlaps:
        # Another block made things meanwhile; ours are those that our variables reach.
        variables, _ = run.block.variables()
        reached = reached_from(variables.values())
        born = [one for one in born if one.identity in reached]
    return born


def _at_work_parts(run: _Run, request: ReleaseRequest) -> set[int]:
    """The identity of all that belongs to a model which is being fitted or asked."""
    found: set[int] = set()
    for model, call in at_work():
        found.update(id(part) for part in parts_of(model))
        watched = Watched.of(model, MODEL)
        if run.made(watched):
            request.notes.append(f"{watched.what} is in use by {call} and was left alone")
    return found


def _kept(run: _Run) -> set[int]:
    things = [thing for reference in run.kept if (thing := reference()) is not None]
    return reached_from(things) if things else set()


def _references(thing: Any) -> Iterable[weakref.ref[Any]]:  # noqa: ANN401
    """The object itself, or the items of a container; a number has no need to be kept."""
    if isinstance(thing, dict):
        return [one for part in thing.values() for one in _references(part)]
    if isinstance(thing, list | tuple | set | frozenset):
        return [one for part in thing for one in _references(part)]
    try:
        return [weakref.ref(thing)]
    except TypeError:
        return []
