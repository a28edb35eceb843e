"""Gives the epochs and calls of a framework the line of the program that they belong to."""

from dataclasses import replace

from lowwater.model import Timeline, Unit
from lowwater.model.tallies import CALLS

# An epoch is part of a `fit`.
_CALL_OF = {"epoch": "fit"}


def with_lines(timeline: Timeline) -> Timeline:
    """The same timeline, whose units know their line where there is only one."""
    return replace(timeline, units=tuple(_located(unit, timeline) for unit in timeline.units))


def _located(unit: Unit, timeline: Timeline) -> Unit:
    if unit.where is not None:
        return unit
    call = _CALL_OF.get(unit.name, unit.name)
    lines = {
        tally.where
        for tally in timeline.tallies
        if tally.kind == CALLS and tally.name == call and tally.where is not None
    }
    return replace(unit, where=lines.pop()) if len(lines) == 1 else unit
