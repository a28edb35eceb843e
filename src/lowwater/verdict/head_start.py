"""Marks at which threads of the program were ahead of its rounds, because they ran while we looked.

What fills a buffer or a cache for the program does not wait for it. While we collect garbage or
scan the heap, the program pauses and its threads go on, so the next rounds find their work done:
memory jumps, then stays level until the rounds have caught up. Neither is the program's doing.
"""

import numpy as np
from numpy.typing import NDArray

from lowwater.model.policy import POLICY
from lowwater.verdict.series import Floats, Series

Flags = NDArray[np.bool_]


def is_ahead(marks: Series, at: Floats, before: Floats, after: Floats) -> Flags:
    """For each mark, whether it follows a pause in which memory grew and is not caught up with.

    `at`, `before` and `after` are the pauses: their rounds, and the bytes in use around them.
    """
    ahead = np.zeros(len(marks), dtype=np.bool_)
    for pause, low, high in zip(at, before, after, strict=True):
        if high - low > POLICY.noise_bytes:
            ahead |= _until_caught_up(marks, ~ahead, float(pause), float(low), float(high))
    return ahead


def _until_caught_up(marks: Series, judged: Flags, pause: float, low: float, high: float) -> Flags:
    """The marks before the round by which the program would have grown as much by itself."""
    x, y = marks.x, marks.y
    early, later = judged & (x <= pause), x > pause
    if not later.any() or np.count_nonzero(early) < POLICY.marks_of_a_piece:
        return np.zeros(len(marks), dtype=np.bool_)
    rate = float(np.median(np.diff(y[early]) / np.diff(x[early])))
    # A scan may follow the collection, so the threads may have gone further than it saw.
    gained = max(high, float(y[later][0])) - low
    # More than all that ever came by rounds is no head start, and without a rise there is none.
    if gained > rate * (pause - float(x[0])):
        return np.zeros(len(marks), dtype=np.bool_)
    return np.asarray(later & (x < pause + gained / rate))
