"""What the guard says of itself: why it ended training, and what became of the model."""

import os

from lowwater.agent.guard.decision import SteadyRise
from lowwater.model.gauges import HOST
from lowwater.model.guard import Guarded, Room, round_name
from lowwater.model.plural import plural
from lowwater.model.units import format_bytes


def because_of(unit: str, place: str, rise: SteadyRise, room: Room) -> str:
    """Why this was the last safe boundary."""
    name = round_name(unit)
    memory = f"{HOST} memory" if place == HOST else place
    what = f"the peak of {memory}" if rise.is_peak else f"{memory} in use"
    much = format_bytes(rise.bytes_per_round)
    over = f"the last {rise.rounds:,} {plural(name)}"
    whole = f"the {format_bytes(room.limit_bytes)} of {_with_article(room.limit)}"
    return (
        f"{what} rose by {much} per {name} over {over}, and {format_bytes(room.left_bytes)} of "
        f"{whole} was left"
    )


def _with_article(limit: str) -> str:
    """Names such as `GPU:0` and RLIMIT_DATA have none."""
    return f"the {limit}" if limit[:1].islower() else limit


def one_line_of(acted: Guarded) -> str:
    """For the output of the program, at the moment when it happens."""
    saved = ", ".join(os.path.basename(path) for path in acted.saved)
    became = f"saved to {saved}" if saved else f"nothing could be saved: {acted.problem}"
    return f"training ended before memory ran out; {became}"
