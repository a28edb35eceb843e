"""Boundaries that the user writes: `lowwater.boundary("episode")`."""

from collections.abc import Callable
from typing import Protocol

from lowwater.interruption import must_be_raised


class _Completions(Protocol):
    def completed(self) -> None: ...


_passes_of: list[Callable[[str], _Completions]] = []


def boundary(name: str) -> None:
    """Mark the end of one round trip of your own, such as an RL episode.

    Under `lowwater run` it gets a verdict like any other unit; otherwise it does nothing.
    """
    if _passes_of:
        try:
            _passes_of[0](name).completed()
        except BaseException:
            if must_be_raised():
                raise


def listen(passes_of: Callable[[str], _Completions]) -> None:
    """Let `boundary` count with these counters from now on."""
    _passes_of[:] = [passes_of]
