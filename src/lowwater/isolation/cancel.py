"""Tells those who wait for a trial that nobody wants its result any more."""

import os
from typing import Self


class Cancelled(Exception):
    """The trial was killed because it was cancelled."""


class Cancel:
    """An event that a `select` can wait for."""

    def __init__(self) -> None:
        """Not cancelled yet."""
        self._reading, self._writing = os.pipe()
        self.is_set = False

    def set(self) -> None:
        """From now on the pipe is at its end, which wakes everybody who waits."""
        if not self.is_set:
            self.is_set = True
            os.close(self._writing)

    def fileno(self) -> int:
        """For `select`."""
        return self._reading

    def close(self) -> None:
        """When nobody waits any more."""
        self.set()
        os.close(self._reading)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
