"""Boundaries that the user writes: `lowwater.boundary("episode")`."""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Final, Protocol

from lowwater.model.interruption import must_be_raised
from lowwater.model.printable import one_line

# More names than a program has kinds of round trips; each is a verdict of its own.
MOST_NAMES: Final = 32
# Of a name without its digits there may be as many again.
_MOST_IN_ALL: Final = 2 * MOST_NAMES
_LONGEST: Final = 60
_UNNAMED: Final = "round trip"
# A number that stands by itself: `episode 17`, `fold_3/trial-4`, `lr=0.01`; not that of `conv2d`.
# Compiled when it is needed: few programs do, and all would wait.
_NUMBER: Final = r"[\s_\-#:=,(\[]*(?<![^\W_])(?<!\w\.)\d+(?:[.,/]\d+)*(?![^\W_])[)\]]*"
_DIGITS: Final = r"[\s_\-#:=.]*\d+"


class _Completions(Protocol):
    def completed(self) -> None: ...


class _Names:
    """Which counter counts for which name: few of them, however many names there are."""

    def __init__(
        self, passes_of: Callable[[str], _Completions], note: Callable[[str], None]
    ) -> None:
        self._passes_of = passes_of
        self._note = note
        # By the name of each unit, the first name that it was given.
        self._first: dict[str, str] = {}

    def completed(self, name: str) -> None:
        """One round trip of this name has ended."""
        unit = self._unit_of(name)
        if unit is not None:
            self._passes_of(unit).completed()

    def _unit_of(self, name: str) -> str | None:
        unit = unit_name(name)
        if unit not in self._first and len(self._first) >= MOST_NAMES:
            unit = _without(_DIGITS, unit)
        if unit not in self._first and len(self._first) >= _MOST_IN_ALL:
            self._note(
                f"lowwater.boundary() was given more than {_MOST_IN_ALL} names: "
                f"the later ones are not watched"
            )
            return None
        first = self._first.setdefault(unit, name)
        if first != name and one_line(name) != unit:
            self._note(
                "lowwater.boundary() names that differ only by a number count as one unit, "
                f"`{unit}`"
            )
        return unit


_names: list[_Names] = []


def boundary(name: str) -> None:
    """Mark the end of one round trip in your own code, such as an RL episode.

    Under `lowwater run` it gets a verdict like any other unit; otherwise it does nothing.
    Names that differ only by a number, `episode 17` and `episode 18`, are one unit, `episode`.
    """
    # With and without `lowwater run`: a program must not fail only when it is watched.
    _check_type(name)
    if _names:
        try:
            _names[0].completed(name)
        except BaseException:
            if must_be_raised():
                raise


def _check_type(name: object) -> None:
    if not isinstance(name, str):
        msg = (
            'lowwater.boundary() takes the name of a round trip, such as "episode" '
            f"(received: {type(name).__name__})"
        )
        raise TypeError(msg)


def listen(
    passes_of: Callable[[str], _Completions], note: Callable[[str], None] = lambda _text: None
) -> None:
    """Let `boundary` count with these counters from now on, and note what it leaves out."""
    _names[:] = [_Names(passes_of, note)]


@lru_cache(maxsize=256)
def unit_name(name: str) -> str:
    """The name of the unit: one short line that can be printed, without numbers of its own."""
    return _without(_NUMBER, one_line(name[: 4 * _LONGEST]))[:_LONGEST].strip() or _UNNAMED


def _without(numbers: str, name: str) -> str:
    return " ".join(re.sub(numbers, "", name).split()).strip(" _-#:=,./") or _UNNAMED
