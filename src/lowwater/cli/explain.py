"""`lowwater explain`: what a cause is, an example, and how to mend it."""

import difflib
import io
import shutil
import sys
import textwrap

import click
from rich.text import Text

from lowwater.causes import CAUSES, Cause
from lowwater.causes._page import FLAT, Page, page_of
from lowwater.cli._output import show
from lowwater.errors import UsageError
from lowwater.screen import Screen

_WIDEST = 100
_INDENT = " " * 4


@click.command()
@click.argument("causes", nargs=-1, metavar="[LW101 | callback-retention]...")
def command(causes: tuple[str, ...]) -> None:
    """Explain a cause by its code or name, or list all causes."""
    chosen = [_named(name) for name in causes]
    drawn = io.StringIO()
    console = Screen(
        file=drawn,
        width=min(_WIDEST, shutil.get_terminal_size().columns),
        force_terminal=sys.stdout.isatty(),
    )
    if not chosen:
        _print_list(console)
    for number, cause in enumerate(chosen):
        if number:
            console.print()
        _print_page(console, page_of(cause))
    text = "".join(f"{line.rstrip()}\n" for line in drawn.getvalue().splitlines())
    show(text, sys.stdout)


def _named(name: str) -> Cause:
    """The cause with this code or name, in whichever case it is written."""
    by_name = {key: cause for cause in CAUSES for key in (cause.code.lower(), cause.name)}
    found = by_name.get(name.lower())
    if found is not None:
        return found
    near = difflib.get_close_matches(name.lower(), by_name, n=1)
    advice = f"lowwater explain {_as_typed(near[0], by_name[near[0]])}" if near else None
    raise UsageError(
        "no such cause",
        received=name,
        advice=advice or "lowwater explain, which lists all causes",
    )


def _as_typed(key: str, cause: Cause) -> str:
    return cause.name if key == cause.name else cause.code


def _print_list(console: Screen) -> None:
    for cause in sorted(CAUSES, key=lambda cause: cause.code):
        page = page_of(cause)
        line = Text(f"{cause.code}  ", "bold").append(f"{cause.name:<24}")
        # Never wrapped: one line per cause can be searched with grep.
        console.print(line.append(page.summary, "not bold"), soft_wrap=True)
    console.print("\nTo read more about one: lowwater explain LW101")


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


def _prose(text: str) -> Text:
    prose = Text(text)
    prose.highlight_regex(r"`[^`\n]+`", "cyan")
    return prose
