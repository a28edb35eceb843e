"""Limits and the room below them, and what the guard did: a training that it has ended."""

from dataclasses import dataclass
from typing import NamedTuple


class Room(NamedTuple):
    """One limit by the name that is shown, and the bytes that may still be taken below it.

    A pool (BFC) gives a request all of a free piece of up to twice its size.
    """

    limit: str
    limit_bytes: int
    left_bytes: int
    is_pool: bool = False


class GuardedUnit(NamedTuple):
    """What is repeated, and for a loop of the program its line: `iteration`, `train.py:9`."""

    name: str
    where: str = ""


def round_name(unit: str) -> str:
    """A unit as a reader knows it: `epoch`, `fit call`, `iteration`."""
    return "fit call" if unit == "fit" else unit


@dataclass(frozen=True, slots=True)
class Guarded:
    """One training that the guard ended: where, why, and what was saved.

    `where` is the line of `unit`, if it is a loop of the program. `rounds` are those of `unit` that
    were completed, over all `fit` calls. `fit` is the number of
    this call, and `epochs_completed` are its own, which is what `initial_epoch` takes; None outside
    of `fit`. `saved` is empty where nothing could be saved, and `problem` says why.
    """

    elapsed_s: float
    unit: str
    rounds: int
    place: str
    limit: str
    limit_bytes: int
    left_bytes: int
    needed_bytes: int
    growth_bytes: int
    because: str
    where: str = ""
    fit: int = 0
    epochs_completed: int | None = None
    is_within_epoch: bool = False
    is_raised: bool = False
    saved: tuple[str, ...] = ()
    has_optimizer: bool = True
    problem: str = ""
    later_fits: int = 0
