"""Saves models before training is ended: atomically, and never over a file of somebody else's."""

import json
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from typing import Any, Final

from lowwater.model.interruption import let_through, quietly

NAME: Final = "lowwater-rescue"
_SCHEMA: Final = "lowwater.rescue/1"
_SAVING: Final = "keras.src.saving.saving_lib"
# What writing a `.keras` file takes, measured with Keras 3.15, Adam and models of 48 and 192 MiB,
# and about a tenth more. Factor to the largest variable, written by way of a file on disk: 2.
_LARGEST_TWICE: Final = 2.2
# Factor to all variables, written by way of memory: 1.2.
_ALL_OF_THEM: Final = 1.3
# Bytes on top of either. A guess.
_IN_ANY_CASE: Final = 4 << 20
# Factor to all variables: the weights are written to a file, and from there into another.
_DISK_TWICE: Final = 2


@dataclass(frozen=True, slots=True)
class Saved:
    """A file that a model was saved to, and what could not be saved of it."""

    path: str
    has_optimizer: bool = True
    problem: str = ""


class CannotSave(Exception):
    """Nothing of a model could be saved; the message says why."""


def saving_bytes(model: Any) -> int:  # noqa: ANN401 - of any Keras
    """What saving this model takes of the host's memory."""
    sizes = [_bytes_of(variable) for variable in _variables_of(model)]
    by_disk = _saving_lib() is not None
    share = _LARGEST_TWICE * max(sizes, default=0) if by_disk else _ALL_OF_THEM * sum(sizes)
    return round(share) + _IN_ANY_CASE


def all_bytes(model: Any) -> int:  # noqa: ANN401
    """All variables of a model and of its optimizer."""
    return sum(map(_bytes_of, _variables_of(model)))


def largest_bytes(model: Any) -> int:  # noqa: ANN401
    """What it takes of a pool of tensors: one variable is read at a time."""
    return max(map(_bytes_of, _variables_of(model)), default=0)


def save(model: Any, folder: str, facts: dict[str, Any]) -> Saved:  # noqa: ANN401
    """Save a model with its optimizer, or its weights alone, and the facts beside it."""
    try:
        return _save(model, folder, facts, ".keras", _save_whole)
    except CannotSave as error:
        why = str(error)
    try:
        saved = _save(model, folder, facts, ".weights.h5", _save_weights)
    except CannotSave as error:
        # Of the same disk both say the same.
        raise CannotSave(why if why in str(error) else f"{why}; {error}") from None
    return Saved(saved.path, has_optimizer=False, problem=why)


def _save(
    model: Any,  # noqa: ANN401
    folder: str,
    facts: dict[str, Any],
    ending: str,
    write: Any,  # noqa: ANN401
) -> Saved:
    path = _free_place(folder, ending)
    # Keras wants to see the ending. The beginning keeps it out of the way of `*.keras`.
    temporary = os.path.join(folder, f".{NAME}-{os.getpid()}{ending}")
    about = f"{temporary}.json"
    try:
        _reserve(temporary, _DISK_TWICE * all_bytes(model) + _IN_ANY_CASE)
        with _quiet():
            write(model, temporary)
        told = {
            "schema": _SCHEMA,
            "model": os.path.basename(path),
            "size_bytes": os.path.getsize(temporary),
            **facts,
        }
        with open(about, "w", encoding="utf-8") as file:
            json.dump(told, file, indent=2)
            file.write("\n")
        os.replace(temporary, path)
        os.replace(about, _about(path, ending))
    except Exception as error:  # noqa: BLE001 - the model's own code runs here
        let_through(error)
        raise CannotSave(f"{type(error).__name__}: {_first_line(error)}") from None
    finally:
        for left in (temporary, about):
            with quietly(OSError):
                os.unlink(left)
    return Saved(path)


def _reserve(path: str, size: int) -> None:
    """See whether there is room on the disk: where it ends in the midst, HDF5 may crash."""
    descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    try:
        os.posix_fallocate(descriptor, 0, size)
    finally:
        os.close(descriptor)
        os.unlink(path)


def _save_whole(model: Any, path: str) -> None:  # noqa: ANN401
    with _by_way_of_the_disk():
        model.save(path)


def _save_weights(model: Any, path: str) -> None:  # noqa: ANN401
    model.save_weights(path)


def _free_place(folder: str, ending: str) -> str:
    """The first name that is free, or that of an earlier rescue."""
    for number in count(1):
        path = os.path.join(folder, f"{NAME}{'' if number == 1 else f'-{number}'}{ending}")
        is_free = not os.path.lexists(path) and not os.path.lexists(_about(path, ending))
        if is_free or _is_ours(path, ending):
            return path
    raise AssertionError


def _is_ours(path: str, ending: str) -> bool:
    """Whether it is the very file that we have written, as the facts beside it say."""
    try:
        with open(_about(path, ending), encoding="utf-8") as file:
            told = json.load(file)
        is_of_ours = told["schema"] == _SCHEMA and told["model"] == os.path.basename(path)
        return bool(is_of_ours and told["size_bytes"] == os.path.getsize(path))
    except (OSError, ValueError, KeyError, TypeError) as error:
        let_through(error)
        return False


def _about(path: str, ending: str) -> str:
    return f"{path.removesuffix(ending)}.json"


@contextmanager
def _by_way_of_the_disk() -> Iterator[None]:
    """Keras saves by way of memory where the machine has enough; a control group may have less."""
    library = _saving_lib()
    if library is None:
        yield
        return
    original = library.is_memory_sufficient
    library.is_memory_sufficient = lambda _model: False
    try:
        yield
    finally:
        library.is_memory_sufficient = original


def _saving_lib() -> Any:  # noqa: ANN401 - a module of Keras
    library = sys.modules.get(_SAVING)
    return library if hasattr(library, "is_memory_sufficient") else None


@contextmanager
def _quiet() -> Iterator[None]:
    """What Keras warns of here is no news to a program that did not ask for saving."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _variables_of(model: Any) -> list[Any]:  # noqa: ANN401
    optimizer = getattr(model, "optimizer", None)
    of_optimizer = getattr(optimizer, "variables", None) or ()
    # A method in `tf_keras`, for some of its releases.
    return [*model.variables, *(of_optimizer() if callable(of_optimizer) else of_optimizer)]


def _bytes_of(variable: Any) -> int:  # noqa: ANN401
    size = 1
    for length in variable.shape:
        size *= int(length or 1)
    dtype = str(getattr(variable.dtype, "name", variable.dtype))
    bits = "".join(filter(str.isdigit, dtype.rpartition("_")[0] or dtype)) or "8"
    return size * max(1, int(bits) // 8)


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0][:300]
