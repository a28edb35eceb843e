"""Records what can be seen of the error that ends a program for want of memory.

It is at home where parts are put together, because `lowwater.holdings()` lies above the agent.
"""

from collections.abc import Sequence
from types import FrameType

from lowwater.agent.instrumentation.first_use import Shown
from lowwater.agent.instrumentation.shortages import Shortages
from lowwater.agent.journal import Journal
from lowwater.agent.last_look import Holds, scene_of
from lowwater.recording.records import RanOut


def look(error: BaseException, journal: Journal, shortages: Shortages, shown: Shown) -> None:
    """Look around while the frames of the error have their variables; nothing, if it is another."""
    scene = scene_of(
        error,
        holdings,
        elapsed_s=journal.elapsed_us(journal.clocks.wall()) / 1e6,
        shown=shown,
        raised=shortages.last,
        dumps=shortages.prefix,
    )
    if scene is not None:
        journal.record(RanOut(scene))


def holdings(most_seconds: float, failed: Sequence[FrameType]) -> Holds:
    """`lowwater.holdings()`, loaded only when it is needed."""
    from lowwater.giveback.holdings import holdings_within

    return holdings_within(most_seconds, failed)
