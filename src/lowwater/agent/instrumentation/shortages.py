"""Each error by which TensorFlow says that memory ran out, also if the program catches it.

We stand in the constructors of two of its errors, which run only when something has failed. Of
other libraries only what nobody catches is seen.
"""

import os
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any, Final

from lowwater.agent.instrumentation._placement import Placement
from lowwater.agent.instrumentation.first_use import Shown
from lowwater.agent.journal import Journal
from lowwater.agent.last_look import request_on_stack
from lowwater.model.interruption import quietly
from lowwater.model.out_of_memory import LONGEST, NO_ROOM_ON_DEVICE, AllocationRequest, telling_line
from lowwater.model.printable import one_line
from lowwater.probes.bfc_dump import VARIABLE, dumps
from lowwater.recording.records import FoundNoRoom

ERRORS: Final = "tensorflow.python.framework.errors_impl"
SUFFIX: Final = ".pool"
_MOST: Final = 1000
_LONGEST_SEARCHED: Final = 10_000
# Each failure leaves a few; the latest are those of the error that ends the program.
_MOST_DUMPS: Final = 8


class Shortages:
    """Counts them, and keeps what can be seen only while they are raised."""

    def __init__(self, journal: Journal, recording: str, shown: Shown) -> None:
        """The pool's maps come to lie beside the recording, in a folder of their own."""
        self._journal = journal
        self._folder = recording + SUFFIX
        self._shown = shown
        self._is_set = False
        self.count = 0
        self.last: AllocationRequest | None = None

    @property
    def prefix(self) -> str | None:
        """What the names of the pool's maps begin with; None where the program says it."""
        return os.path.join(self._folder, "map") if self._is_set else None

    def placements(self, errors: ModuleType) -> Iterator[Placement]:
        """Where the errors are made; from now on TensorFlow draws the maps."""
        self._ask_for_maps()
        for error, made in (
            (errors.ResourceExhaustedError, self._made),
            (errors.InternalError, self._made_internal),
        ):
            yield Placement(error.__init__, made, "start", ("message",))

    def remove(self) -> None:
        """Take the maps away."""
        if self._is_set:
            os.unsetenv(VARIABLE)
            remove_folder(self._folder)
            self._is_set = False

    def _ask_for_maps(self) -> None:
        if self._is_set or VARIABLE in os.environ or self._folder.startswith("/proc/"):
            return
        # Of a run that was killed together with whoever would have removed it.
        remove_folder(self._folder)
        with quietly(OSError):
            os.mkdir(self._folder, 0o700)
            # Not in `os.environ`, where the program would see it: TensorFlow asks the C library.
            os.putenv(VARIABLE, os.path.join(self._folder, "map"))
            self._is_set = True

    def _made_internal(self, message: Any) -> None:  # noqa: ANN401
        if NO_ROOM_ON_DEVICE in str(message):
            self._made(message)

    def _made(self, message: Any) -> None:  # noqa: ANN401 - TensorFlow's
        error = one_line(telling_line(str(message)[:_LONGEST_SEARCHED]))[:LONGEST]
        self.last = request_on_stack(sys._getframe(1), error, self._shown)  # noqa: SLF001
        self.count += 1
        if self._is_set:
            for path in dumps(os.path.join(self._folder, "map"))[:-_MOST_DUMPS]:
                with quietly(OSError):
                    os.unlink(path)
        if self.count <= _MOST:
            now_us = self._journal.elapsed_us(self._journal.clocks.wall())
            self._journal.record(FoundNoRoom(now_us, error, self.last.where))


def remove_folder(folder: str) -> None:
    """With all that TensorFlow wrote into it; nothing else is in there."""
    for path in dumps(os.path.join(folder, "map")):
        with quietly(OSError):
            os.unlink(path)
    with quietly(OSError):
        os.rmdir(folder)
