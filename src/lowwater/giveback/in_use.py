"""Which models are at work this moment: in `fit` and its like, on any thread."""

import sys
import threading
from collections.abc import Iterator
from types import FrameType
from typing import Any

from lowwater.agent.census.roots import variables_of
from lowwater.model.frameworks import is_call_of_keras

_AT_WORK = frozenset(
    (
        "fit evaluate predict train_on_batch test_on_batch predict_on_batch "
        "fit_generator train_step test_step predict_step __call__"
    ).split()
)


def at_work() -> list[tuple[Any, str]]:
    """The models that are being fitted or asked, and by which call on which thread."""
    found: dict[int, tuple[Any, str]] = {}
    names = {thread.ident: thread.name for thread in threading.enumerate()}
    here = threading.get_ident()
    for identity, innermost in sys._current_frames().items():  # noqa: SLF001 - documented
        thread = "this thread" if identity == here else f"thread {names.get(identity, identity)!r}"
        for frame in _frames(innermost):
            if frame.f_code.co_name in _AT_WORK and is_call_of_keras(frame):
                model: Any = variables_of(frame).get("self")
                found.setdefault(id(model), (model, f"`{frame.f_code.co_name}` on {thread}"))
    # One of the frames is our own, and would hold itself.
    del innermost, frame
    return [*found.values()]


def other_thread_in_keras() -> str:
    """The name of another thread that builds or runs a model just now; empty if there is none."""
    names = {thread.ident: thread.name for thread in threading.enumerate()}
    here = threading.get_ident()
    others = {key: one for key, one in sys._current_frames().items() if key != here}  # noqa: SLF001
    busy = [
        key for key, innermost in others.items() if any(map(is_call_of_keras, _frames(innermost)))
    ]
    return f"thread {names.get(busy[0], busy[0])!r}" if busy else ""


def _frames(innermost: FrameType) -> Iterator[FrameType]:
    frame: FrameType | None = innermost
    while frame is not None:
        yield frame
        frame = frame.f_back
