"""`lowwater report`: show a recording that was made earlier, perhaps elsewhere."""

import sys

import click

from lowwater.cli._output import print_diagnosis, write_text
from lowwater.recording.reader import load
from lowwater.session import diagnose


@click.command()
@click.option("--json", "json_file", metavar="FILE", help="Write the report as JSON to FILE.")
@click.argument("recording")
def command(*, json_file: str | None, recording: str) -> None:
    """Show the diagnosis of RECORDING, made with lowwater run --record."""
    diagnosis = diagnose(load(recording))
    print_diagnosis(diagnosis, sys.stdout)
    if json_file:
        from lowwater.report import json as json_report

        write_text(json_file, json_report.render(diagnosis))
