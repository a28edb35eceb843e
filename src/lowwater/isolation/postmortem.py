"""Gives the error of a trial that ran out of memory its autopsy, where the process still lives."""

from collections.abc import Sequence
from types import FrameType

from lowwater.agent.last_look import Holds, scene_of
from lowwater.model.autopsy import Autopsy, Manner
from lowwater.model.interruption import quietly
from lowwater.model.out_of_memory import is_out_of_memory
from lowwater.model.units import format_bytes

_UNSEEN = "nothing inside its process was watched before it was killed"


def examine(error: BaseException, maps: str | None = None) -> None:
    """Add `error.autopsy`, and its text as a note; nothing where another error is the matter.

    Memory is short: where that fails, the error stays as it is.
    """
    if not is_out_of_memory(error) or hasattr(error, "autopsy"):
        return
    with quietly():
        scene = scene_of(error, _holdings, dumps=maps)
        if scene is not None:
            from lowwater.verdict.autopsy import autopsy_of_scene

            attach(error, autopsy_of_scene(scene))


def attach(error: BaseException, autopsy: Autopsy) -> None:
    """In its `__dict__`, which travels with it, as notes do."""
    vars(error)["autopsy"] = autopsy
    error.add_note(str(autopsy))


def of_killed(peak_bytes: int, limit_bytes: int | None, limit_name: str | None) -> Autopsy:
    """What there is to say where the process is gone, and was seen from outside only."""
    limit = "" if limit_bytes is None else f" of {format_bytes(limit_bytes)}"
    return Autopsy(
        Manner.INCONCLUSIVE,
        f"it was killed at {format_bytes(peak_bytes)}{limit}; whether it leaks or is too big "
        "cannot be seen from outside",
        "host",
        limit_name=limit_name,
        limit_bytes=limit_bytes,
        in_use_bytes=peak_bytes,
        held_note=_UNSEEN,
        advice="To see which, call the function in a script of its own under `lowwater run`",
    )


def _holdings(most_seconds: float, failed: Sequence[FrameType]) -> Holds:
    from lowwater.giveback.holdings import holdings_within

    return holdings_within(most_seconds, failed)
