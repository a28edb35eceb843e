"""Where a report goes: the terminal or a file."""

import shutil
from pathlib import Path
from typing import TextIO

import click

from lowwater.errors import UserError
from lowwater.model import Diagnosis
from lowwater.printable import printable

_WIDEST = 100


def print_diagnosis(diagnosis: Diagnosis, stream: TextIO) -> None:
    """Print the screen, in colour on a terminal."""
    from lowwater.report import text

    width = min(_WIDEST, shutil.get_terminal_size().columns)
    screen = text.render(diagnosis, width=width, colour=stream.isatty())
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
        Path(path).write_text(content, encoding="utf-8")
    except OSError as error:
        msg = f"cannot write {path}"
        raise UserError(msg, received=error.strerror or str(error)) from error
