"""The command line: one file per command, named in one list, each loaded when it is called."""

import contextlib
import importlib
import os
import sys

import click

from lowwater.errors import LowwaterError
from lowwater.model.printable import one_line

COMMANDS = ("run", "diagnose", "check", "report", "explain", "gpu", "footprint", "doctor", "demo")


class _Commands(click.Group):
    """Loads only the command that is asked for: `run` has to start in a blink."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's interface
        return [*COMMANDS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        command = importlib.import_module(f"lowwater.cli.{cmd_name}").command
        assert isinstance(command, click.Command)
        return command


@click.command(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="lowwater", prog_name="lowwater")
def cli() -> None:
    """Find out where the memory of a Keras program goes, and get it back."""


def main() -> None:
    """Entry point: errors meant for the user become one line and their exit code."""
    try:
        cli.main(prog_name="lowwater", standalone_mode=True)
    except LowwaterError as error:
        from lowwater.cli._output import say

        say(f"error: {one_line(str(error))}", err=True)
        sys.exit(error.exit_code)
    except SystemExit as end:
        _end_at_once(end)


def _end_at_once(end: SystemExit) -> None:
    """Leave without taking NumPy apart, which takes as long as the report.

    Nor let Python put an exit code of its own in place of the program's: it does where the last
    output cannot be written.
    """
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, OSError, ValueError):  # closed, full, or not there
            stream.flush()
    if end.code is None or isinstance(end.code, int):
        os._exit(end.code or 0)
    raise end
