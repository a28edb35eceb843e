"""What the guard did: why training ended, what was saved, and how to continue."""

from collections.abc import Iterator
from typing import Final

from rich.console import RenderableType

from lowwater.model import Diagnosis, Kind
from lowwater.model.guard import Guarded, round_name
from lowwater.model.units import format_bytes, format_duration
from lowwater.report._prose import prose, section
from lowwater.report._step import NextStep
from lowwater.report._words import counted, sentence

_FULL: Final = ".keras"


def told_guard(diagnosis: Diagnosis) -> Iterator[RenderableType]:
    """One section, where the guard has ended training."""
    if diagnosis.guarded is not None:
        yield section("Ended by the guard", map(prose, _lines(diagnosis.guarded)))


def continuing(diagnosis: Diagnosis) -> Iterator[NextStep]:
    """How to go on from what was saved."""
    guarded = diagnosis.guarded
    if guarded is None:
        return
    if guarded.saved:
        yield _from_saved(guarded, guarded.saved[0])
    if guarded.is_within_epoch and diagnosis.verdict.kind is not Kind.LEAK:
        yield NextStep(
            "To find what grows within an epoch, check with many short epochs: "
            "`model.fit(..., steps_per_epoch=20, epochs=20)`."
        )


def _from_saved(guarded: Guarded, file: str) -> NextStep:
    epochs = guarded.epochs_completed
    fit = "" if epochs is None else f"; model.fit(..., initial_epoch={epochs})"
    if file.endswith(_FULL):
        return NextStep(
            "Continue from the saved model, in a new process:",
            f'model = keras.models.load_model("{file}"){fit}',
        )
    return NextStep(
        "Continue from the saved weights, in a new process (the state of the optimizer is lost):",
        f'model.load_weights("{file}"){fit}',
    )


def _lines(guarded: Guarded) -> Iterator[str]:
    what = "A loop" if guarded.is_raised else "Training"
    at = f"{_place_of(guarded)}, {format_duration(guarded.elapsed_s)} into the run"
    yield f"{what} ended {at}, before memory ran out: {guarded.because}."
    needed = format_bytes(guarded.needed_bytes)
    yield f"One more {round_name(guarded.unit)} and saving the model needed about {needed}."
    yield from _about_saving(guarded)
    if guarded.later_fits:
        many = counted(guarded.later_fits, "later `fit` call")
        yield f"{many} of this run ended after the first batch as well."


def _place_of(guarded: Guarded) -> str:
    """`after epoch 17`, `after 4,211 batches, within epoch 3`."""
    name, where = round_name(guarded.unit), guarded.where
    epochs = guarded.epochs_completed
    of = f" of `fit` call {guarded.fit:,}" if guarded.fit > 1 else ""
    if name == "epoch" and epochs is not None:
        return f"after epoch {epochs:,}{of}"
    if guarded.is_within_epoch and epochs is not None:
        return f"after {counted(guarded.rounds, name)}, within epoch {epochs + 1:,}{of}"
    return f"after {counted(guarded.rounds, name)}{f' at {where}' if where else ''}"


def _about_saving(guarded: Guarded) -> Iterator[str]:
    files = ", ".join(f"`{name}`" for name in guarded.saved)
    if not files:
        yield f"Nothing was saved: {sentence(guarded.problem)}"
    elif guarded.has_optimizer:
        yield f"Saved, with the state of the optimizer: {files}"
        if guarded.problem:
            yield f"Not everything was saved: {sentence(guarded.problem)}"
    else:
        yield f"Only the weights were saved: {files} ({guarded.problem})."
    if files and guarded.is_within_epoch and guarded.epochs_completed is not None:
        yield f"Epoch {guarded.epochs_completed + 1:,} was cut short; it starts over from there."
