"""The most that malloc has handed out while something runs.

XLA takes memory from malloc on a CPU, and says nothing of it: the convolutions of its libraries
take theirs beside the program's. A thread looks often enough, as each of these blocks is held for
most of a step, or of an operation.
"""

import threading
import time
from types import TracebackType
from typing import Self

from lowwater.model.measured import NotMeasured
from lowwater.probes.glibc import find_mallinfo2

# Seconds from look to look. A guess.
_EVERY_S = 0.0002
# Memory of the last step is given back by another thread, a moment after its result is there: it is
# waited for in moments, until one gives back no more than noise. Seconds, and bytes; guesses.
_PATIENCE_S = 0.2
_MOMENT_S = 0.005
_NOISE_BYTES = 64 << 10


class MallocWatch:
    """Bytes that malloc has handed out: at rest, and the most while the `with` block runs."""

    def __init__(self) -> None:
        """Nothing was seen yet."""
        self._mallinfo2 = find_mallinfo2()
        self.rest_bytes = self.highest_bytes = 0
        self._is_on = False
        self._thread: threading.Thread | None = None

    @property
    def why_not(self) -> str:
        """The reason why it cannot look; empty where it can."""
        return self._mallinfo2.why if isinstance(self._mallinfo2, NotMeasured) else ""

    def settle(self) -> None:
        """Wait until what the last step freed is free."""
        until, last = time.monotonic() + _PATIENCE_S, self._in_use()
        while time.monotonic() < until:
            time.sleep(_MOMENT_S)
            now = self._in_use()
            if last - now < _NOISE_BYTES:
                return
            last = now

    def __enter__(self) -> Self:
        self.rest_bytes = self.highest_bytes = self._in_use()
        self._is_on = True
        self._thread = threading.Thread(target=self._look, name="lowwater-malloc", daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._is_on = False
        if self._thread is not None:
            self._thread.join()

    def _look(self) -> None:
        while self._is_on:
            self.highest_bytes = max(self.highest_bytes, self._in_use())
            time.sleep(_EVERY_S)

    def _in_use(self) -> int:
        if isinstance(self._mallinfo2, NotMeasured):
            return 0
        info = self._mallinfo2()
        return int(info.uordblks + info.hblkhd)
