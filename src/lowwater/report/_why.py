"""Why this verdict: the questions that led to it, each with its number, threshold and answer."""

import math
from collections.abc import Iterator
from typing import Final

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from lowwater.model import Diagnosis, Question, Verdict
from lowwater.model.printable import one_line
from lowwater.model.units import format_bytes
from lowwater.report._prose import indented, prose, section
from lowwater.report._words import memory_of, seen, sentence, unit_of

# Shares and probabilities whose names do not end in `_share`.
_SHARES: Final = frozenset(
    {"freed_little", "freed_most", "most_in_one_step"}
    | {"by_chance", "by_chance_in_few", "likely", "likely_in_few"}
)
_FACTORS: Final = frozenset({"alike", "standard_errors"})
# Less is not worth its digits.
_LEAST_SHOWN: Final = 0.0001
_SOURCE: Final = "Each threshold is explained, by its name, in lowwater/model/policy.py."


def told_questions(diagnosis: Diagnosis) -> Iterator[RenderableType]:
    """A table for each judged unit, that of the leading verdict first."""
    lead = diagnosis.verdict
    others = [one for one in diagnosis.units if (one.unit, one.place) != (lead.unit, lead.place)]
    asked = [one for one in (lead, *others) if one.questions]
    for verdict in asked:
        # The screen begins with the reason of the leading one.
        reason = [] if verdict is lead else [prose(sentence(verdict.because))]
        yield section(_title(verdict), [*reason, _table(verdict.questions)])
    if asked:
        yield Text(_SOURCE, "dim")
    else:
        yield prose("No questions: there are no round trips to judge.")


def told_rules(questions: tuple[Question, ...]) -> RenderableType:
    """Why memory ran out: the rules in their order, up to the one that decided."""
    return section("How this was decided: by the first yes", [_table(questions)])


def _title(verdict: Verdict) -> str:
    told = f"{verdict.kind}: {unit_of(verdict)} ({memory_of(verdict.place)}, {seen(verdict)})"
    return one_line(f"Why {told}")


def _table(questions: tuple[Question, ...]) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(ratio=1, overflow="fold")
    table.add_column(justify="right", no_wrap=True)
    table.add_column(overflow="fold")
    table.add_column(no_wrap=True)
    topic = ""
    for question in questions:
        if question.topic != topic:
            topic = question.topic
            table.add_row(Text(topic, "bold"))
        answer = Text("yes" if question.answer else "no")
        text = indented(Text(one_line(question.text)))
        table.add_row(text, _measured(question), _threshold(question), answer)
    return table


def _measured(question: Question) -> str:
    if question.measured is None or not math.isfinite(question.measured):
        return ""
    return _shown(question.measured, question.threshold_name)


def _threshold(question: Question) -> str:
    if question.threshold is None:
        return ""
    value = _shown(question.threshold, question.threshold_name)
    return f"{question.sign} {value} {question.threshold_name}"


def _shown(value: float, threshold_name: str) -> str:
    """An amount in the unit of that threshold."""
    name = threshold_name.partition("**")[0]
    if name.endswith("_bytes"):
        return format_bytes(value)
    if name in _SHARES or name.endswith("_share"):
        return _percent(value)
    return f"{value:,.2f}" if name in _FACTORS else f"{value:,.0f}"


def _percent(share: float) -> str:
    if 0 < abs(share) < _LEAST_SHOWN:
        return f"<{100 * _LEAST_SHOWN:g} %"
    return f"{100 * share:,.3g} %" if abs(share) < 1 else f"{100 * share:,.0f} %"
