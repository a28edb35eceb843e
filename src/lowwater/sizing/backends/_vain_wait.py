"""Ends the process where a step waits for memory that nobody will free.

An allocation that fails waits ten seconds for others to free some, and TensorFlow has no switch for
that. In a process that makes one step at a time there are no others.
"""

import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path

# Seconds between two looks, and looks until a step that computes nothing is ended: two seconds are
# more than a thread waits for a processor on a busy machine. Guesses.
_APART_S = 0.5
_LOOKS = 4
# Share of that time. What a process computes that only waits.
_MOST_BUSY = 0.02
# Share of the limit. A step that sleeps for another reason has so much free.
_LEAST_FULL = 0.5
_TASKS = Path("/proc/self/task")


class VainWait:
    """Looks on from a thread of its own while a step is made."""

    def __init__(
        self,
        in_use: Callable[[], int],
        limit_bytes: int,
        end: Callable[[int], object] = os._exit,
    ) -> None:
        """`in_use` is asked only where nothing else happens."""
        self._in_use, self._limit_bytes, self._end = in_use, limit_bytes, end
        self._is_in_step = threading.Event()
        self._step = 0
        threading.Thread(target=self._look_on, daemon=True).start()

    def begin(self) -> None:
        """A step begins."""
        self._step += 1
        self._is_in_step.set()

    def done(self) -> None:
        """It has ended."""
        self._is_in_step.clear()

    def _look_on(self) -> None:
        looks: deque[tuple[int, float]] = deque(maxlen=_LOOKS + 1)
        while True:
            self._is_in_step.wait()
            looks.append((self._step, time.process_time() - time.thread_time()))
            if len(looks) > _LOOKS and self._is_vain(*looks[0]):
                self._end(1)
                return
            time.sleep(_APART_S)

    def _is_vain(self, step: int, busy_s: float) -> bool:
        computed_s = time.process_time() - time.thread_time() - busy_s
        is_idle = computed_s < _MOST_BUSY * _LOOKS * _APART_S
        return (
            step == self._step
            and self._is_in_step.is_set()
            and is_idle
            and not any(_threads_that_run())
            and self._in_use() > _LEAST_FULL * self._limit_bytes
        )


def _threads_that_run() -> Iterator[bool]:
    """Of the others: those that compute, wait for a processor, or for a disk."""
    own = threading.get_native_id()
    for task in _TASKS.iterdir():
        try:
            state = (task / "stat").read_text().rpartition(")")[2].split()[0]
        except OSError:  # it has ended
            continue
        if int(task.name) != own:
            yield state in "RD"
