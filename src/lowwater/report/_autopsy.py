"""The block about an out-of-memory on the final screen; what to do about it comes below it."""

from collections.abc import Iterator

from rich.console import RenderableType

from lowwater.model import Diagnosis
from lowwater.model.autopsy import Autopsy
from lowwater.model.autopsy_text import body, title
from lowwater.report._prose import INDENT, prose, section
from lowwater.report._step import NextStep
from lowwater.report._why import told_rules


def told_autopsy(diagnosis: Diagnosis, width: int, *, why: bool) -> Iterator[RenderableType]:
    """Why memory ran out; nothing where it did not."""
    if (autopsy := diagnosis.autopsy) is not None:
        lines = body(autopsy, width - INDENT, with_steps=False)
        yield section(title(autopsy), (prose(line) for line in lines))
        if why:
            yield told_rules(autopsy.questions)


def steps_after(autopsy: Autopsy) -> Iterator[NextStep]:
    """What to do first."""
    if not autopsy.advice:
        return
    first = autopsy.commands[0] if autopsy.commands else None
    yield NextStep(f"{autopsy.advice}{':' if first else '.'}", first)
