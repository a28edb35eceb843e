"""The guard in the watched program: looks at boundaries, and ends training at the last safe one."""

import gc
import os
import sys
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from types import FrameType, ModuleType
from typing import Any, Final, NamedTuple

from lowwater.agent.guard.decision import Decision, Standing, SteadyRise
from lowwater.agent.guard.places import HOST_POOL, GuardedPlaces
from lowwater.agent.guard.rescue import CannotSave, largest_bytes, save, saving_bytes
from lowwater.agent.guard.words import because_of, one_line_of
from lowwater.agent.instrumentation._placement import Placement, innermost
from lowwater.agent.instrumentation.keras_calls import CALLS
from lowwater.agent.journal import Journal
from lowwater.agent.observer import BY_TIME
from lowwater.errors import StoppedByGuard
from lowwater.model.frameworks import is_call_of_keras
from lowwater.model.gauges import HOST
from lowwater.model.guard import Guarded, GuardedUnit, Room
from lowwater.model.interruption import let_through, quietly
from lowwater.model.units import format_bytes
from lowwater.probes.glibc import this_process
from lowwater.recording.records import GuardActed

# Batches from look to look, and in a short training fewer: 16 looks in each doubling. A look took
# 0.45 ms of processor time, on a machine with a load of 25.
_MOST_APART: Final = 32
_LOOKS_PER_DOUBLING: Final = 16
# The room is read again when memory has risen by an eighth of what was to spare, or after so many
# looks: others may have taken some. A guess.
_SHARE_OF_ROOM: Final = 8
_MOST_UNREAD: Final = 64
# Units that come and go within a loop of the program, or by the clock.
_NOT_A_LOOP: Final = frozenset({*CALLS, "epoch", "model", "session", BY_TIME})
# Models that are saved, the latest. More at a time are parts of each other, or a search. A guess.
_MOST_MODELS: Final = 4
_UNFINISHED: Final = "the program ended while the model was being saved"


class _Danger(NamedTuple):
    """Why it must end here."""

    unit: GuardedUnit
    rounds: int
    place: str
    rise: SteadyRise
    room: Room
    needed_bytes: int


class _Unread(NamedTuple):
    """Up to which level, and for how many more looks, a room that was read need not be again."""

    level_bytes: int
    looks: int


class Guard:
    """Holds no object of the program but weakly; what fails in here becomes a note."""

    def __init__(
        self,
        journal: Journal,
        folder: str,
        living_models: Callable[[], Sequence[Any]],
        *,
        raises: bool = False,
        places: GuardedPlaces | None = None,
    ) -> None:
        """Save into this folder; `raises` ends loops without `fit` by an exception."""
        self._journal = journal
        self._folder = folder
        self._living_models = living_models
        self._raises = raises
        self._places = places or GuardedPlaces()
        self._decision = Decision()
        self._unread: dict[str, _Unread] = {}
        self._acted: Guarded | None = None
        self._busy = threading.Lock()
        self._fits = self._batches = self._epochs = self._next_batch = 0
        self._is_near = False
        self._epoch: int | None = None
        # By loop of the program: how many `fit` calls there were at its last boundary.
        self._fits_before: dict[GuardedUnit, int] = {}
        self._trained: weakref.ref[Any] | None = None

    def placements(self, keras: ModuleType) -> Iterator[Placement]:
        """Where it looks, for `keras` and `tf_keras` alike."""
        callbacks = keras.callbacks.CallbackList
        for name, placed, at, arguments in (
            ("on_train_begin", self.fit_begins, "start", ("self",)),
            ("on_epoch_begin", self.epoch_begins, "start", ("epoch",)),
            ("on_train_batch_end", self.batch_ended, "end", ("self",)),
            ("on_epoch_end", self.epoch_ended, "end", ("self", "epoch")),
            ("on_train_end", self.fit_ended, "start", ("self",)),
        ):
            method = innermost(getattr(callbacks, name))
            yield Placement(method, placed, "start" if at == "start" else "end", arguments)
        train_on_batch = innermost(keras.Model.train_on_batch)
        yield Placement(train_on_batch, self.trains_on_batch, "start", ("self",))

    def fit_begins(self, callbacks: Any) -> None:  # noqa: ANN401 - the list of callbacks of a `fit`
        """After the guard has acted, a `fit` has one batch: Keras looks at its end."""
        self._epoch = None
        self._fits += 1
        self.trains_on_batch(_model_of(callbacks))
        if self._acted is not None and self._journal.is_on:
            _stop(callbacks)
            self._record(replace(self._acted, later_fits=self._acted.later_fits + 1))

    def epoch_begins(self, epoch: int) -> None:
        """Take note of where `fit` is: so many epochs are completed."""
        self._epoch = epoch

    def batch_ended(self, callbacks: Any) -> None:  # noqa: ANN401
        """A batch was trained; few of them are looked at until it gets near."""
        self._batches += 1
        if self._acted is not None:
            _stop(callbacks)
        elif self._batches >= self._next_batch:
            self._look_within_fit("batch", self._batches, callbacks)
            apart = min(_MOST_APART, max(1, self._batches // _LOOKS_PER_DOUBLING))
            self._next_batch = self._batches + (1 if self._is_near else apart)

    def epoch_ended(self, callbacks: Any, epoch: int) -> None:  # noqa: ANN401
        """An epoch was trained and validated."""
        self._epochs += 1
        self._epoch = epoch + 1
        self._look_within_fit("epoch", self._epochs, callbacks)

    def fit_ended(self, callbacks: Any) -> None:  # noqa: ANN401
        """A `fit` is over: where each leaves something behind, the next may be too much."""
        self._look_within_fit("fit", self._fits, callbacks)

    def trains_on_batch(self, model: Any) -> None:  # noqa: ANN401
        """Remember, weakly, which model a loop of the program trains."""
        if self._trained is None or self._trained() is not model:
            self._trained = weakref.ref(model)

    def loop_passes(self, name: str, where: str | None, rounds: int) -> None:
        """A boundary of the program's own; one within a `fit` is left to the `fit`."""
        is_elsewhere = threading.current_thread() is not threading.main_thread()
        if self._acted is not None or name in _NOT_A_LOOP or is_elsewhere:
            return
        unit = GuardedUnit(name, where or "")
        has_fits = self._fits > self._fits_before.get(unit, self._fits)
        self._fits_before[unit] = self._fits

        def may_act() -> bool:
            if _is_within_fit():
                return False
            if not (self._raises or has_fits):
                self._journal.note(_only_noted(where or name))
            return self._raises or has_fits

        danger = self._danger(unit, rounds, self._models_now, may_act)
        if danger is None:
            return
        if self._raises:
            told = self._save(self._act_on(danger, is_raised=True), self._models_now())
            raise StoppedByGuard(told.because, saved=", ".join(told.saved) or "nothing")
        # The next `fit` is ended; but then it may be too late to save what was trained by now.
        self._epoch = None
        self._save(self._act_on(danger), self._models_now())

    def _look_within_fit(self, unit: str, rounds: int, callbacks: Any) -> None:  # noqa: ANN401
        if self._acted is not None:
            return
        # A loop of the program may have callbacks too, and need not heed `stop_training`.
        models = lambda: [_model_of(callbacks)]  # noqa: E731 - one line says it
        danger = self._danger(GuardedUnit(unit), rounds, models, _is_within_fit)
        if danger is None:
            return
        _stop(callbacks)
        self._save(self._act_on(danger), [callbacks.model])

    def _danger(
        self,
        unit: GuardedUnit,
        rounds: int,
        models: Callable[[], Sequence[Any]],
        may_act: Callable[[], bool],
    ) -> _Danger | None:
        """Look at all places; the reason to end here, if there is one, and if that can be done."""
        if not self._journal.is_on or not self._busy.acquire(blocking=False):
            return None
        try:
            self._is_near = False
            for place, standing in self._places.standings().items():
                rise = self._decision.passes(unit, place, rounds, standing)
                danger = None
                if rise is not None and self._reads_room(place, standing):
                    needs = _saving_at(place, models())
                    danger = self._danger_at(place, standing, rise, needs)
                if danger is None or not may_act():
                    continue
                if not self._is_settled(place, rise, models):
                    return _Danger(unit, rounds, place, *danger)
        finally:
            self._busy.release()
        return None

    def _reads_room(self, place: str, standing: Standing) -> bool:
        """By bytes and looks, never by the clock: reading it opens a dozen small files."""
        unread = self._unread.get(place)
        if unread is None or unread.looks <= 0 or standing.level_bytes >= unread.level_bytes:
            return True
        self._unread[place] = unread._replace(looks=unread.looks - 1)
        return False

    def _danger_at(
        self, place: str, standing: Standing, rise: SteadyRise, saving: int
    ) -> tuple[SteadyRise, Room, int] | None:
        """The tightest limit that the next round would pass."""
        found = self._places.rooms_of(place)
        self._is_near |= any(rise.is_near(room, saving) for room in found)
        spare = [room.left_bytes - rise.needed_bytes(saving, room) for room in found]
        far = max(0, min(spare, default=0)) // _SHARE_OF_ROOM
        self._unread[place] = _Unread(standing.level_bytes + far, _MOST_UNREAD)
        passed = [room for room in found if rise.must_end(room, saving)]
        if not passed:
            return None
        room = min(passed, key=lambda one: one.left_bytes)
        return rise, room, rise.needed_bytes(saving, room)

    def _is_settled(
        self, place: str, rise: SteadyRise | None, models: Callable[[], Sequence[Any]]
    ) -> bool:
        """Collect garbage, as an experiment: memory that falls was waiting for the collector."""
        assert rise is not None
        before = self._places.standings().get(place)
        gc.collect()
        if place == HOST:
            _return_free_heap()
        after = self._places.standings().get(place)
        saving = _saving_at(place, models())
        found = self._places.rooms_of(place)
        if not all(rise.is_settled_by_collection(room, saving) for room in found):
            return False
        self._decision.collected(place)
        if before is not None and after is not None:
            freed = max(0, before.level_bytes - after.level_bytes)
            self._journal.note(
                "the guard collected garbage when memory was about to run out; that freed "
                f"{format_bytes(freed)}, and training went on"
            )
        return True

    def _act_on(self, danger: _Danger, *, is_raised: bool = False) -> Guarded:
        """Record it before the saving begins: that may be cut short."""
        acted = Guarded(
            elapsed_s=self._journal.elapsed_us(self._journal.clocks.wall()) / 1e6,
            unit=danger.unit.name,
            where=danger.unit.where,
            rounds=danger.rounds,
            place=danger.place,
            limit=danger.room.limit,
            limit_bytes=danger.room.limit_bytes,
            left_bytes=danger.room.left_bytes,
            needed_bytes=danger.needed_bytes,
            growth_bytes=danger.rise.bytes_per_round,
            because=because_of(danger.unit.name, danger.place, danger.rise, danger.room),
            fit=self._fits,
            epochs_completed=None if is_raised else self._epoch,
            is_within_epoch=danger.unit.name == "batch",
            is_raised=is_raised,
            problem=_UNFINISHED,
        )
        self._record(acted)
        return acted

    def _record(self, acted: Guarded) -> None:
        self._acted = acted
        self._journal.record(GuardActed(acted))

    def _save(self, acted: Guarded, models: Sequence[Any]) -> Guarded:
        """Save what can be saved; whatever becomes of it, training is over."""
        facts = {
            "because": acted.because,
            "unit": acted.unit,
            "where": acted.where,
            "rounds": acted.rounds,
            "epochs_completed": acted.epochs_completed,
            "is_within_epoch": acted.is_within_epoch,
            "elapsed_s": acted.elapsed_s,
            "limit": acted.limit,
            "limit_bytes": acted.limit_bytes,
            "left_bytes": acted.left_bytes,
        }
        saved, problems, has_optimizer = [], [], True
        for model in models:
            try:
                one = save(model, self._folder, facts)
                saved.append(os.path.basename(one.path))
                has_optimizer &= one.has_optimizer
                problems += [one.problem] if one.problem else []
            except CannotSave as error:
                problems.append(str(error))
            except Exception as error:  # noqa: BLE001 - ours must not become the program's
                let_through(error)
                problems.append(f"{type(error).__name__}: {error}")
        if not models:
            problems.append("no model was found")
        told = replace(
            acted, saved=tuple(saved), has_optimizer=has_optimizer, problem="; ".join(problems)
        )
        self._record(told)
        with quietly(OSError, ValueError, AttributeError):
            sys.stderr.write(f"\nlowwater: {one_line_of(told)}\n")
        return told

    def _models_now(self) -> list[Any]:
        """Those that a loop of the program trains, as far as that can be known."""
        trained = self._trained() if self._trained is not None else None
        if trained is not None:
            return [trained]
        living = [model for model in self._living_models() if _is_trainable(model)]
        inner = {id(part) for model in living for part in _parts_of(model)}
        return [model for model in living if id(model) not in inner][-_MOST_MODELS:]


def _only_noted(loop: str) -> str:
    return (
        f"memory was about to run out in the loop {loop}, which trains without `fit`; to end such "
        "a loop in time, use `lowwater run --guard-raise`"
    )


def _saving_at(place: str, models: Sequence[Any]) -> int:
    """What saving takes there, one model after the other; of an accelerator hardly anything."""
    take = saving_bytes if place == HOST else largest_bytes
    return max((take(model) for model in models), default=0) if place in (HOST, HOST_POOL) else 0


def _model_of(callbacks: Any) -> Any:  # noqa: ANN401
    """The model itself. The property `model` copies the state of JAX: only for the saving."""
    model = getattr(callbacks, "_model", None)
    return callbacks.model if model is None else model


def _stop(callbacks: Any) -> None:  # noqa: ANN401
    _model_of(callbacks).stop_training = True


def _is_trainable(model: Any) -> bool:  # noqa: ANN401
    return bool(getattr(model, "built", False) and getattr(model, "trainable_variables", ()))


def _parts_of(model: Any) -> list[Any]:  # noqa: ANN401
    """The layers in it, and those in them; models are layers too."""
    flattened = getattr(model, "_flatten_layers", None)
    return [*flattened(include_self=False, recursive=True)] if flattened is not None else []


def _is_within_fit() -> bool:
    """Whether a `fit` of Keras runs in this thread."""
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001
    while frame is not None:
        if frame.f_code.co_name == "fit" and is_call_of_keras(frame):
            return True
        frame = frame.f_back
    return False


def _return_free_heap() -> None:
    """What the collection has freed counts against the limit until malloc returns it."""
    trim = getattr(this_process(), "malloc_trim", None)
    if trim is not None:
        trim(0)
