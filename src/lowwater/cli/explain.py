"""`lowwater explain`: what a cause is, an example and its fix; or what a symptom points to."""

import difflib
import io
import shutil
import sys
import textwrap
from collections.abc import Iterable
from typing import NoReturn

import click
from rich.table import Table
from rich.text import Text

from lowwater.causes._page import FLAT, Page, page_of
from lowwater.causes._symptoms import SYMPTOMS, Symptom, symptom_of
from lowwater.causes.catalogue import CAUSES, Cause
from lowwater.cli._output import show
from lowwater.errors import UsageError
from lowwater.report.screen import Screen

_WIDEST = 100
_INDENT = " " * 4
# As alike as this a word is the name of a cause with a slip of the finger: two letters swapped.
_MISSPELT = 0.85


@click.command()
@click.argument("topics", nargs=-1, metavar="[LW101 | callback-retention | SYMPTOM]...")
def command(topics: tuple[str, ...]) -> None:
    """Explain a cause or a symptom, or list all of them.

    A symptom is what you see: oom, gpu, nvidia-smi, ResourceExhaustedError, "batch size",
    clear_session, predict, "fit in a loop", "kernel restart".
    """
    drawn = io.StringIO()
    console = Screen(
        file=drawn,
        width=min(_WIDEST, shutil.get_terminal_size().columns),
        force_terminal=sys.stdout.isatty(),
    )
    if not topics:
        _print_list(console)
    for number, topic in enumerate(_asked_for(topics)):
        if number:
            console.print()
        if isinstance(topic, Symptom):
            _print_symptom(console, topic)
        else:
            _print_page(console, page_of(topic))
    text = "".join(f"{line.rstrip()}\n" for line in drawn.getvalue().splitlines())
    show(text, sys.stdout)


def _asked_for(topics: tuple[str, ...]) -> list[Cause | Symptom]:
    """Causes and symptoms; words that only together name a symptom are one."""
    by_name = {key: cause for cause in CAUSES for key in (cause.code.lower(), cause.name)}
    known = [by_name.get(topic.lower()) or _symptom_of(topic, by_name) for topic in topics]
    together = symptom_of(" ".join(topics)) if len(topics) > 1 else None
    if together is not None and not all(known):
        return [together]
    pairs = zip(topics, known, strict=True)
    found = [topic or _unknown(name, by_name) for name, topic in pairs]
    return [topic for number, topic in enumerate(found) if topic not in found[:number]]


def _symptom_of(topic: str, by_name: Iterable[str]) -> Symptom | None:
    """None where it is the name of a cause, misspelt: `dataset-cahce` is not about data sets."""
    is_misspelt = difflib.get_close_matches(topic.lower(), by_name, n=1, cutoff=_MISSPELT)
    return None if is_misspelt else symptom_of(topic)


def _unknown(name: str, by_name: dict[str, Cause]) -> NoReturn:
    near = difflib.get_close_matches(name.lower(), by_name, n=1)
    advice = f"lowwater explain {_as_typed(near[0], by_name[near[0]])}" if near else None
    raise UsageError(
        "no such cause or symptom",
        received=name,
        advice=advice or "lowwater explain, which lists all of them",
    )


def _as_typed(key: str, cause: Cause) -> str:
    return cause.name if key == cause.name else cause.code


def _print_list(console: Screen) -> None:
    for cause in sorted(CAUSES, key=lambda cause: cause.code):
        page = page_of(cause)
        line = Text(f"{cause.code}  ", "bold").append(f"{cause.name:<24}")
        # Never wrapped: one line per cause can be searched with grep.
        console.print(line.append(page.summary, "not bold"), soft_wrap=True)
    console.print(Text("\nOr look up what you see:\n", "bold"))
    for symptom in SYMPTOMS:
        console.print(
            f"  lowwater explain {_quoted(symptom.name):<24}{symptom.title}", soft_wrap=True
        )
    console.print("\nFor details, name one: lowwater explain LW101")


def _quoted(name: str) -> str:
    return f'"{name}"' if " " in name else name


def _print_symptom(console: Screen, symptom: Symptom) -> None:
    console.print(Text(symptom.title, "bold"))
    console.print(_prose(symptom.answer))
    console.print(Text("\nWhat to try\n", "bold"))
    for command_, purpose in symptom.commands:
        # Never wrapped: it is there to be copied.
        console.print(Text(f"{_INDENT}{command_}"), soft_wrap=True)
        console.print(_beside(_INDENT * 2, purpose))
    if not symptom.codes:
        return
    console.print(Text("\nPossible causes\n", "bold"))
    by_code = {cause.code: cause for cause in CAUSES}
    for code in symptom.codes:
        console.print(_beside(f"{_INDENT}{code}  ", page_of(by_code[code]).summary))
    console.print(f"\nFor details, name one: lowwater explain {symptom.codes[0]}")


def _beside(head: str, text: str) -> Table:
    """Wrapped to the right of its head."""
    table = Table.grid()
    table.add_row(Text(head), Text(text))
    return table


def _print_page(console: Screen, page: Page) -> None:
    console.print(Text(page.title, "bold"))
    console.print(_prose(page.summary))
    for paragraph in page.prose.split("\n\n"):
        console.print()
        console.print(_prose(" ".join(paragraph.split())))
    for title, code in ((page.leaks_title, page.leaks), (FLAT, page.flat)):
        console.print(Text(f"\n{title}\n", "bold"))
        # Never wrapped: it is there to be copied.
        console.print(Text(textwrap.indent(code, _INDENT)), soft_wrap=True)
    if page.upstream:
        console.print()
        console.print(_prose(page.upstream))
    console.print()
    console.print(_prose(f"Fix: {page.fix}"))
    for title, text in page.of_source:
        console.print()
        console.print(_prose(f"{title}: {text}"))


def _prose(text: str) -> Text:
    prose = Text(text)
    prose.highlight_regex(r"`[^`\n]+`", "cyan")
    return prose
