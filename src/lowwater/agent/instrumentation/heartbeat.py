"""Something to do now and then, also in a program whose loops we do not see.

The garbage collector runs now and then, and calls back. But Python discards what is raised in such
a call, a signal handler's exceptions too; so no Python may run in it. The callback below is made of
C functions alone: every few collections it asks the interpreter for a *pending call*, which runs
between two bytecodes of the main thread, and what is raised there is the program's to see.
"""

import ctypes
import gc
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import chain, repeat, starmap

from lowwater.model.interruption import must_be_raised

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
        except BaseException as error:  # noqa: BLE001 - it is handed on
            if must_be_raised():
                _hand_on(error)
        return False  # anything else would be an error


def _asking_for(thing: object) -> Iterator[int]:
    """Each step has the interpreter ask for the truth of this, soon."""
    takes_two = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
    ask = takes_two(("Py_AddPendingCall", ctypes.pythonapi))
    is_true = ctypes.cast(ctypes.pythonapi.PyObject_IsTrue, ctypes.c_void_p)
    # Never freed: the interpreter may still be about to ask.
    _asked_for.append(thing)
    return starmap(ask, repeat((is_true, id(thing))))


def _hand_on(error: BaseException) -> None:
    """Let it be raised in the program's frame, and not in ours."""
    first = error.__traceback__
    error.__traceback__ = first.tb_next if first is not None else None
    _raised.append((type(error), error))
    next(_asking_for(_Raising()))


_asked_for: list[object] = []
_raised: deque[tuple[type[BaseException], BaseException]] = deque()
_set_error = ctypes.PYFUNCTYPE(None, ctypes.py_object, ctypes.py_object)(
    ("PyErr_SetObject", ctypes.pythonapi)
)


class _Raising:
    """Who asks for its truth gets the exception, and no frame of ours with it."""

    __bool__ = staticmethod(partial(next, starmap(_set_error, iter(_raised.popleft, None))))


@contextmanager
def heart_beating(action: Callable[[], None]) -> Iterator[None]:
    """Call `action` in the main thread, about every few collections."""
    beat = _Beat(action)
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
    idle = repeat(repeat(None), _COLLECTIONS_PER_BEAT - 1)
    items = chain.from_iterable(zip(_asking_for(beat), *idle, strict=False))

    class Phases:
        stop = property(partial(next, items))

    return partial(getattr, Phases())
