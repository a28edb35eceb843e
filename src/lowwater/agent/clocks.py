"""The clocks of the agent, which tests replace."""

import time
from collections.abc import Callable
from typing import NamedTuple


class Clocks(NamedTuple):
    """Seconds by the wall, and of processor time: of this thread, and of the whole process.

    On a busy machine a sample waits for its turn: that is not what it costs.
    """

    wall: Callable[[], float] = time.perf_counter
    own: Callable[[], float] = time.thread_time
    process: Callable[[], float] = time.process_time
