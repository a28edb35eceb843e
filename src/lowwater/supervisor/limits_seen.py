"""What ended the memory of a program that was killed for it, as it is seen from outside."""

from lowwater.agent.last_look import host_limits
from lowwater.model.autopsy import GROUP, MACHINE, LimitSeen, Scene
from lowwater.recording.records import Ended, RanOut


def ran_out(ended: Ended) -> list[RanOut]:
    """A record of the limits, where the kernel has ended the program for want of memory."""
    if not ended.out_of_memory:
        return []
    # It has given back all of it: what is in use by now is not its own.
    limits = [LimitSeen(one.name, one.limit_bytes) for one in host_limits()]
    return [
        RanOut(
            Scene(
                ended.elapsed_us / 1e6,
                limits=tuple(one for one in limits if one.name in (GROUP, MACHINE)),
            )
        )
    ]
