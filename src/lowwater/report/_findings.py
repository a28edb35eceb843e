"""The findings on the screen: which cause, at which line, what holds it, and how to mend it."""

from collections.abc import Iterator
from itertools import chain
from typing import Final

from rich.console import Group, RenderableType
from rich.text import Text

from lowwater.model import Diagnosis, Finding
from lowwater.model.printable import one_line
from lowwater.report._prose import INDENT, end_of, indented, prose, section
from lowwater.report._words import sentence
from lowwater.report.leak_trace import LeakTrace

# Where nothing leaks a finding explains and does not accuse.
_HEADINGS: Final = {False: "What explains it", None: "Possible cause"}
_MOST_IN_FULL: Final = 3
_GAP: Final = "   "
_BLANK: Final = Text("")


def told_findings(diagnosis: Diagnosis, width: int, *, verbose: bool) -> Iterator[RenderableType]:
    """One section per finding of a leak; all in one, under a heading, where there is none.

    Unless it is to be `verbose`, only the first has its trace; of the others the line and the fix
    are enough to go on.
    """
    if not diagnosis.findings:
        return
    is_leak = diagnosis.verdict.is_leak
    in_full = _MOST_IN_FULL if verbose else 1
    if is_leak:
        yield from _blocks(diagnosis.findings, width, in_full, is_leak=True)
    else:
        blocks = _blocks(diagnosis.findings, width - INDENT, in_full, is_leak=False)
        yield section(_HEADINGS[is_leak], _with_blanks_between(blocks))


def _blocks(
    findings: tuple[Finding, ...], width: int, in_full: int, *, is_leak: bool
) -> Iterator[RenderableType]:
    advice = "Fix" if is_leak else "Advice"
    for number, finding in enumerate(findings[:_MOST_IN_FULL]):
        body = _body(finding, advice) if number < in_full else (_fix(finding, advice),)
        yield Group(_title(finding, width, is_leak=is_leak), indented(*body))
    if rest := findings[_MOST_IN_FULL:]:
        yield Group(*(_title(finding, width, is_leak=is_leak) for finding in rest))


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


def _body(finding: Finding, advice: str) -> Iterator[RenderableType]:
    yield from map(prose, _story(finding))
    if finding.trace:
        yield from (_BLANK, LeakTrace(finding.trace), _BLANK)
    yield _fix(finding, advice)
    yield (
        Text().append("More: ", "bold").append(f"lowwater explain {one_line(finding.code)}", "cyan")
    )


def _fix(finding: Finding, advice: str) -> RenderableType:
    return Text().append(f"{advice}: ", "bold").append_text(prose(finding.fix))


def _story(finding: Finding) -> Iterator[str]:
    if finding.library:
        meets = " The line shows where your program triggers it." if finding.where else ""
        yield f"The cause is in {finding.library}, not in your program.{meets}"
    yield sentence(finding.message)
    # A trace shows the holder better than its name does.
    if finding.holder and not finding.trace and finding.holder not in finding.message:
        yield f"Held by `{finding.holder}`."
