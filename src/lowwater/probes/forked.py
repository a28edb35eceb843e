"""Whether a framework was started in this process, or is what a fork has copied.

A fork copies the memory and the locks of all threads, but runs only one of them. Who asks an
allocator whose lock another thread had taken waits forever. TensorFlow and JAX start threads of
their own, by whose names a process in which they run is known.
"""

import os
from collections.abc import Iterator

from lowwater.model.interruption import let_through

_TASKS = "/proc/self/task"
_PREFIX = "tf_"

# A list, to be changed: the process in which nothing is a copy.
_original = [os.getpid()]


def runs_here(tasks: str = _TASKS) -> bool:
    """Whether this process has threads of TensorFlow or JAX, one of which has been started."""
    return any(name.startswith(_PREFIX) for name in _names(tasks))


def is_fork() -> bool:
    """Whether the process was forked after this module was loaded."""
    return os.getpid() != _original[0]


def begin_here() -> None:
    """For a fork of a process that had started nothing: what runs here was started here."""
    _original[0] = os.getpid()


def _names(tasks: str) -> Iterator[str]:
    try:
        numbers = os.listdir(tasks)
    except OSError as error:
        let_through(error)
        return
    for number in numbers:
        try:
            with open(f"{tasks}/{number}/comm", encoding="utf-8", errors="replace") as file:
                yield file.read()
        except OSError as error:  # the thread has just ended
            let_through(error)
