"""`lowwater run`: watch an unmodified script, then say whether it leaks."""

import sys
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from lowwater.cli._checks import check_module, check_output, check_script
from lowwater.cli._exit_status import FINDINGS, GUARDED
from lowwater.cli._gpu_options import gpu_options, wanted_of_devices
from lowwater.cli._output import print_diagnosis, tell, write_json
from lowwater.errors import UsageError
from lowwater.model.assignment import Assignment
from lowwater.model.units import parse_bytes
from lowwater.recording.recording_file import check_place, recording_at
from lowwater.supervisor.launch import launch
from lowwater.supervisor.signals import Witness, drop_held, held_back

if TYPE_CHECKING:
    from lowwater.model import Diagnosis


@click.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.option("-m", "is_module", is_flag=True, help="Treat SCRIPT as a module, like python -m.")
@click.option("--json", "json_file", metavar="FILE", help="Write the report as JSON to FILE.")
@click.option("--record", metavar="FILE", help="Save the recording to FILE, for lowwater report.")
@click.option(
    "--fail-on", type=click.Choice(["leak"]), help="Exit with status 3 if a leak is found."
)
@click.option(
    "--min-growth",
    metavar="SIZE",
    help='With --fail-on: ignore leaks below SIZE per round, e.g. "64 KiB".',
)
@click.option("--mend", "is_mended", is_flag=True, help="Repair known library leaks.")
@click.option(
    "--guard",
    "is_guarded",
    is_flag=True,
    help="Save the model and end `fit` before memory runs out (exits with status 6).",
)
@click.option(
    "--guard-raise",
    is_flag=True,
    help="The same, and end loops without `fit` by raising lowwater.errors.StoppedByGuard.",
)
@gpu_options
@click.option("-v", "--verbose", is_flag=True, help="Show all details in the final report.")
@click.option("-q", "--quiet", is_flag=True, help="Show no live line and no final report.")
@click.argument("script")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def command(  # noqa: PLR0913 - one parameter for each option
    *,
    is_module: bool,
    json_file: str | None,
    record: str | None,
    fail_on: str | None,
    min_growth: str | None,
    is_mended: bool,
    is_guarded: bool,
    guard_raise: bool,
    gpu_memory_growth: bool,
    gpu_memory: str | None,
    verbose: bool,
    quiet: bool,
    script: str,
    arguments: tuple[str, ...],
) -> None:
    """Run SCRIPT and report whether, and where, it leaks memory.

    The script runs as it does without Lowwater. Put its arguments after its name.
    The report goes to stderr, so stdout has only the output of the script.
    """
    least_bytes = _least_bytes(min_growth, fail_on)
    devices = wanted_of_devices(growth=gpu_memory_growth, memory=gpu_memory)
    check_module(script) if is_module else check_script(script)
    for output in (json_file, record):
        check_output(output)
    if record is not None:
        check_place(record, script)
    with held_back():
        wanted = Assignment(
            script,
            [*arguments],
            is_module,
            is_mended=is_mended,
            devices=None if devices is None else devices.to_plain(),
            guard="raise" if guard_raise else "stop" if is_guarded else "",
        )
        diagnosis, exit_code = _watched(wanted, record, quiet=quiet)
        # Whatever becomes of the report, the program's exit code is passed on.
        if json_file:
            tell(write_json, diagnosis, json_file)
        if not quiet:
            tell(print_diagnosis, diagnosis, sys.stderr, verbose=verbose)
        drop_held()
    grows_bytes = diagnosis.verdict.growth_bytes_per_unit or 0
    if fail_on == "leak" and diagnosis.verdict.is_leak and grows_bytes >= least_bytes:
        sys.exit(FINDINGS)
    if diagnosis.guarded is not None and exit_code == 0:
        sys.exit(GUARDED)
    sys.exit(exit_code)


def _least_bytes(min_growth: str | None, fail_on: str | None) -> int:
    """The growth from which a leak counts; without `--fail-on` there is nothing to count for."""
    if min_growth is None:
        return 0
    if fail_on is None:
        msg = "--min-growth requires --fail-on leak"
        advice = f"lowwater run --fail-on leak --min-growth {min_growth!r} train.py"
        raise UsageError(msg, received="--min-growth alone", advice=advice)
    try:
        return parse_bytes(min_growth)
    except ValueError as error:
        msg = "--min-growth is not a size"
        raise UsageError(msg, received=min_growth, advice='--min-growth "64 KiB"') from error


def _watched(assignment: Assignment, record: str | None, *, quiet: bool) -> "tuple[Diagnosis, int]":
    """The diagnosis, and the exit code of the program."""
    with recording_at(record) as place:
        began_s = time.time()
        child = launch(replace(assignment, recording=place.path))
        witness = Witness.if_possible()
        # The program is on its way: what we import from here on costs the user no time.
        from lowwater.supervisor.session import live_line, watch, with_note, with_source

        with live_line(None if quiet else sys.stderr) as line:
            diagnosis, outcome = watch(
                child, place.path, line, witness, loads_early=not assignment.guard
            )
        diagnosis = with_source(diagnosis, assignment, began_s)
        return with_note(diagnosis, place.keep()), outcome.exit_code
