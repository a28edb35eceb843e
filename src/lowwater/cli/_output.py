"""Where a report goes: the terminal or a file."""

import contextlib
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import ParamSpec, TextIO

import click

from lowwater.errors import LowwaterError, UserError
from lowwater.model import Diagnosis
from lowwater.model.printable import one_line, printable

_WIDEST = 100
P = ParamSpec("P")


def tell(how: Callable[P, None], *arguments: P.args, **options: P.kwargs) -> None:
    """Tell what was found, or in one line why that could not be told."""
    try:
        how(*arguments, **options)
    except (LowwaterError, OSError, ValueError) as error:  # ValueError: a closed stream
        with contextlib.suppress(OSError, ValueError):
            say(f"error: {one_line(str(error))}", err=True)


def print_diagnosis(
    diagnosis: Diagnosis, stream: TextIO | None, *, verbose: bool = False, why: bool = False
) -> None:
    """Print the screen, in colour on a terminal; nothing where nobody listens."""
    if stream is None:
        return
    from lowwater.report import text

    width = min(_WIDEST, shutil.get_terminal_size().columns)
    colour = stream.isatty()
    screen = text.render(diagnosis, width=width, colour=colour, verbose=verbose, why=why)
    show(screen, stream)


def show(screen: str, stream: TextIO) -> None:
    """Write what a `Screen` has drawn, in characters that the stream can take."""
    from lowwater.report.text import for_encoding

    stream.write(for_encoding(screen, stream.encoding or "utf-8"))
    stream.flush()


def say(text: str = "", *, err: bool = False) -> None:
    """Write plain text and a line break; whatever else is in it, the terminal is not steered."""
    click.echo(printable(text), err=err)


def write_json(diagnosis: Diagnosis, path: str) -> None:
    """Write the JSON report."""
    from lowwater.report import json

    write_text(path, json.render(diagnosis))


def write_text(path: str, content: str) -> None:
    """Write a file whole, or say why not."""
    try:
        # A name of any bytes: what is no text becomes an escape, which JSON knows.
        Path(path).write_text(content, encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        msg = f"cannot write {path}"
        raise UserError(msg, received=error.strerror or str(error)) from error
