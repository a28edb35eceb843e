"""`lowwater report`: show a recording that was made earlier, perhaps elsewhere."""

import sys

import click

from lowwater.cli._output import print_diagnosis, write_json
from lowwater.recording.reader import load
from lowwater.supervisor.session import diagnose


@click.command()
@click.option("--json", "json_file", metavar="FILE", help="Write the report as JSON to FILE.")
@click.option("-v", "--verbose", is_flag=True, help="Show all details in the report.")
@click.option(
    "--why", is_flag=True, help="Show each question behind the verdict, with its threshold."
)
@click.argument("recording")
def command(*, json_file: str | None, verbose: bool, why: bool, recording: str) -> None:
    """Show the report of RECORDING, a file saved with --record.

    With --why, it also lists the questions that led to the verdict on each unit, in order:
    what was measured, the threshold, and the answer.
    """
    diagnosis = diagnose(load(recording))
    if json_file:
        write_json(diagnosis, json_file)
    print_diagnosis(diagnosis, sys.stdout, verbose=verbose, why=why)
