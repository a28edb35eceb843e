"""`lowwater doctor`: what this machine can measure, and which known leaks it has."""

import json

import click

from lowwater.cli._doctor import examine
from lowwater.cli._doctor.text import as_data, as_text
from lowwater.cli._output import say, write_text


@click.command("doctor")
@click.option(
    "--json",
    "json_file",
    metavar="[FILE]",
    is_flag=False,
    flag_value="-",
    help="Write JSON to FILE, or to standard output, instead of text.",
)
def command(json_file: str | None) -> None:
    """Show what can be measured here, and known library leaks.

    It lists versions, allocators and limits too.
    """
    checkup = examine()
    if json_file is None:
        say(as_text(checkup).rstrip("\n"))
        return
    document = json.dumps(as_data(checkup), indent=2) + "\n"
    if json_file == "-":
        say(document.rstrip("\n"))
    else:
        write_text(json_file, document)
