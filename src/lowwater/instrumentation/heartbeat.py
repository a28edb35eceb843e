"""Something to do now and then, also in a program whose loops we do not see.

The garbage collector runs now and then, and calls back. But Python discards what is raised in such
a call, a signal handler's exceptions too; so no Python may run in it. The callback below is made of
C functions alone: every few collections it asks the interpreter for a *pending call*, which runs
between two bytecodes of the main thread, and what is raised there is the program's to see.
"""

import ctypes
import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import chain, repeat, starmap

from lowwater.interruption import let_through

# A pending call takes a microsecond or two, a collection of the young at least ten.
_COLLECTIONS_PER_BEAT = 8


class _Beat:
    """Its truth is asked for by the interpreter, and costs an action."""

    def __init__(self, action: Callable[[], None]) -> None:
        self.action: Callable[[], None] | None = action

    def __bool__(self) -> bool:
        try:
            if self.action is not None:
                self.action()
        except Exception as error:  # noqa: BLE001 - ours must not become the program's
            let_through(error)
        return False  # anything else would be an error


# Never freed: the interpreter may still be about to ask.
_beats: list[_Beat] = []


@contextmanager
def heart_beating(action: Callable[[], None]) -> Iterator[None]:
    """Call `action` in the main thread, about every few collections."""
    beat = _Beat(action)
    _beats.append(beat)
    callback = _collected(beat)
    gc.callbacks.append(callback)
    try:
        yield
    finally:
        beat.action = None
        if callback in gc.callbacks:
            gc.callbacks.remove(callback)


def _collected(beat: _Beat) -> Callable[[str, dict[str, int]], object]:
    """A callback for the collector that runs no Python.

    It reads the attribute `stop` or `start`, by the phase. There is no `start`, and reading `stop`
    takes the next item of an endless iterator: one that asks for a pending call, then some idle
    ones.
    """
    takes_two = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
    ask = takes_two(("Py_AddPendingCall", ctypes.pythonapi))
    is_true = ctypes.cast(ctypes.pythonapi.PyObject_IsTrue, ctypes.c_void_p)
    asking = starmap(ask, repeat((is_true, id(beat))))
    idle = repeat(repeat(None), _COLLECTIONS_PER_BEAT - 1)
    items = chain.from_iterable(zip(asking, *idle, strict=False))

    class Phases:
        stop = property(partial(next, items))

    return partial(getattr, Phases())
