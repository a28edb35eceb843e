"""The findings on the screen: which cause, at which line, what holds it, and how to mend it."""

import re
from collections.abc import Iterator
from itertools import chain
from typing import Final

from rich.console import Group, RenderableType
from rich.text import Text

from lowwater.model import Diagnosis, Finding, InSource, TraceNode
from lowwater.model.printable import one_line
from lowwater.report._prose import INDENT, end_of, indented, prose, section
from lowwater.report._words import sentence
from lowwater.report.leak_trace import LeakTrace, in_brief

# Where nothing leaks a finding explains and does not accuse.
_HEADINGS: Final = {False: "What explains it", None: "Possible cause"}
_MOST_TOLD: Final = 3
_END_OF_SENTENCE: Final = re.compile(r"[.;] ")
_GAP: Final = "   "
_BLANK: Final = Text("")


def told_findings(diagnosis: Diagnosis, width: int, *, verbose: bool) -> Iterator[RenderableType]:
    """One section per finding of a leak; all in one, under a heading, where there is none.

    Unless it is to be `verbose`, only the first has its trace. Where there are several, the first
    two have the first sentence of their fix, and the others their line.
    """
    if not diagnosis.findings:
        return
    is_leak = diagnosis.verdict.is_leak
    blocks = _in_full if verbose else _in_brief
    if is_leak:
        yield from blocks(diagnosis.findings, width, is_leak=True)
    else:
        told = blocks(diagnosis.findings, width - INDENT, is_leak=False)
        yield section(_HEADINGS[is_leak], _with_blanks_between(told))


def _in_full(
    findings: tuple[Finding, ...], width: int, *, is_leak: bool
) -> Iterator[RenderableType]:
    for finding in findings[:_MOST_TOLD]:
        advice = _advice(is_leak=is_leak)
        body = _body(finding, advice, finding.message, finding.fix, finding.trace)
        yield Group(_title(finding, width, is_leak=is_leak), indented(*body))
    if rest := findings[_MOST_TOLD:]:
        yield Group(*(_title(finding, width, is_leak=is_leak) for finding in rest))


def _in_brief(
    findings: tuple[Finding, ...], width: int, *, is_leak: bool
) -> Iterator[RenderableType]:
    first, *others = findings
    advice = _advice(is_leak=is_leak)
    trace = in_brief(first.trace, reasons=not others)
    fix = _first_sentence(first.fix) if others else first.fix
    body = _body(first, advice, first.story, fix, trace)
    yield Group(_title(first, width, is_leak=is_leak), indented(*body))
    if others:
        second = _fix(_first_sentence(others[0].fix), advice)
        titles = [_title(finding, width, is_leak=is_leak) for finding in others]
        yield Group(titles[0], indented(second), *titles[1:])


def _advice(*, is_leak: bool) -> str:
    return "Fix" if is_leak else "Advice"


def _first_sentence(text: str) -> str:
    return f"{_END_OF_SENTENCE.split(text, maxsplit=1)[0].rstrip('.')}."


def _with_blanks_between(blocks: Iterator[RenderableType]) -> Iterator[RenderableType]:
    yield next(blocks)
    yield from chain.from_iterable((_BLANK, block) for block in blocks)


def _title(finding: Finding, width: int, *, is_leak: bool) -> RenderableType:
    cause = Text().append(one_line(f"{finding.code} {finding.name}"), "bold")
    facts = Text(_GAP).join(_facts(finding, width // 2, is_leak=is_leak))
    if cause.cell_len + len(_GAP) + facts.cell_len <= width:
        return cause.append(_GAP).append_text(facts)
    return Group(cause, indented(facts))


def _facts(finding: Finding, room: int, *, is_leak: bool) -> Iterator[Text]:
    if finding.library:
        yield Text(one_line(f"in {finding.library}"))
    if finding.where:
        yield Text(end_of(one_line(finding.where), room), "cyan")
    elif is_leak and not finding.library:
        yield Text("line unknown", "dim")
    if finding.share is not None:
        yield Text(f"{_percent(finding.share)} of the growth")


def _percent(share: float) -> str:
    whole = round(share * 100)
    return f"{whole} %" if whole or not share else "under 1 %"


def _body(
    finding: Finding, advice: str, message: str, fix: str, trace: tuple[TraceNode, ...]
) -> Iterator[RenderableType]:
    yield from map(prose, _told(finding, message))
    if trace:
        yield from (_BLANK, LeakTrace(trace), _BLANK)
    yield _fix(fix, advice)
    yield _more(finding)


def _fix(text: str, advice: str) -> RenderableType:
    return Text().append(f"{advice}: ", "bold").append_text(prose(text))


def _more(finding: Finding) -> RenderableType:
    explain = f"lowwater explain {one_line(finding.code)}"
    more = Text().append("More: ", "bold").append(explain, "cyan")
    if finding.in_source is InSource.SEEN:
        # Behind the command: the screen of a leak has no line to spare.
        more.append(" (also found by ").append("lowwater check", "cyan").append(")")
    return more


def _told(finding: Finding, message: str) -> Iterator[str]:
    if finding.library:
        issue = f" ({finding.issue})" if finding.issue else ""
        meets = " The line shows where your program triggers it." if finding.where else ""
        yield f"The cause is in {finding.library}{issue}, not in your program.{meets}"
    yield sentence(message)
    # A trace shows the holder better than its name does.
    if finding.holder and not finding.trace and finding.holder not in finding.message:
        yield f"Held by `{finding.holder}`."
