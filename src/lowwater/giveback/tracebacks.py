"""Lets the finished frames of an exception go of their variables, as `traceback.clear_frames`."""

import contextlib
from types import TracebackType


def clear_finished_frames(error: BaseException, until: BaseException | None) -> None:
    """Clear the frames of this exception and of those that led to it, inside the block.

    `until` was being handled when the block began: it and those before it are not ours.
    """
    seen = {id(until)}
    waiting: list[BaseException | None] = [error]
    while waiting:
        one = waiting.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        _clear(one.__traceback__)
        waiting += [one.__context__, one.__cause__]


def _clear(entry: TracebackType | None) -> None:
    while entry is not None:
        # A frame that still runs refuses: it is that of the block, or further out.
        with contextlib.suppress(RuntimeError):
            entry.tb_frame.clear()
        entry = entry.tb_next
