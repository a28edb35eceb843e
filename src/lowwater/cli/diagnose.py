"""`lowwater diagnose`: the debugging checklist, run as experiments."""

import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import click

from lowwater.cli._checks import check_module, check_output, check_script
from lowwater.cli._exit_status import FINDINGS
from lowwater.cli._gpu_options import gpu_options, wanted_of_devices
from lowwater.cli._output import print_diagnosis, say, write_json
from lowwater.cli._places import Places
from lowwater.cli._trailing_options import WithTrailingOptions
from lowwater.diagnose.checklist import Checklist
from lowwater.diagnose.cuts import Cuts
from lowwater.diagnose.kept_runs import kept_runs
from lowwater.diagnose.lab import Lab
from lowwater.diagnose.rerun import Program, Reruns
from lowwater.diagnose.run_guard import RunGuard
from lowwater.errors import UsageError
from lowwater.model.assignment import STDIN
from lowwater.model.units import parse_duration
from lowwater.recording.recording_file import check_place
from lowwater.report.experiments_bar import experiments_bar
from lowwater.supervisor.signals import held_back

INTERRUPTED = 130


@click.command(
    cls=WithTrailingOptions,
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
)
@click.option("-m", "is_module", is_flag=True, help="Treat SCRIPT as a module, like python -m.")
@click.option("--epochs", default=12, show_default=True, help="Cap each fit at this many epochs.")
@click.option(
    "--steps", default=30, show_default=True, help="Cap each fit at this many steps per epoch."
)
@click.option(
    "--rounds", default=14, show_default=True, help="Stop each loop after this many iterations."
)
@click.option("--budget", metavar="TIME", help='Start no new run after this time, e.g. "10 min".')
@click.option(
    "--all", "runs_all", is_flag=True, help="Run all experiments, even if the cause is certain."
)
@click.option("--sandbox", is_flag=True, help="Run each experiment in a copy of this folder.")
@click.option("-y", "--yes", is_flag=True, help="Do not prompt.")
@gpu_options
@click.option("--fresh", is_flag=True, help="Ignore the runs of earlier diagnoses.")
@click.option("--json", "json_file", metavar="FILE", help="Write the result as JSON to FILE.")
@click.option("--record", metavar="FILE", help="Save the result to FILE, for lowwater report.")
@click.option(
    "--fail-on", type=click.Choice(["leak"]), help="Exit with status 3 if a leak is found."
)
@click.argument("script")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def command(  # noqa: PLR0913 - one parameter for each option
    *,
    is_module: bool,
    epochs: int,
    steps: int,
    rounds: int,
    budget: str | None,
    runs_all: bool,
    sandbox: bool,
    yes: bool,
    gpu_memory_growth: bool,
    gpu_memory: str | None,
    fresh: bool,
    json_file: str | None,
    record: str | None,
    fail_on: str | None,
    script: str,
    arguments: tuple[str, ...],
) -> None:
    """Find the cause of a leak in SCRIPT by short experiments.

    Each experiment is a short run in a clean process: without your callbacks, with one repeated
    batch, without tf.function, with repaired libraries, and so on. The result names the
    part that causes the growth, and what keeps the memory.
    """
    if script == STDIN and not is_module:
        msg = "diagnose runs the program several times, but standard input can be read only once"
        raise UsageError(msg, advice="save it to a file: lowwater diagnose train.py")
    if not is_module:
        check_script(script, "diagnose")
    source = check_module(script) if is_module else Path(script)
    for output in (json_file, record):
        check_output(output)
    if record is not None:
        check_place(record, script)
    budget_s = _seconds(budget)
    devices = wanted_of_devices(growth=gpu_memory_growth, memory=gpu_memory)
    cuts = Cuts(
        _positive("--epochs", epochs), _positive("--steps", steps), _positive("--rounds", rounds)
    )
    places = Places(sandbox=sandbox, is_agreed=yes)
    places.guess(source)
    settings = None if devices is None else devices.to_plain()
    # Runs with other settings are other runs.
    like = arguments if settings is None else (*arguments, repr(settings))
    with kept_runs(script, like, cuts, fresh=fresh) as recordings:
        program = Program(script, [*arguments], is_module, recordings, settings)
        try:
            with ExitStack() as stack:
                with held_back():  # by the thread of the bar as well, for as long as it lives
                    guard = stack.enter_context(RunGuard())
                    bar = stack.enter_context(experiments_bar(sys.stderr))
                places.paused = bar.paused
                lab = Lab(Reruns(program, places, guard, budget_s, bar), cuts, bar)
                checked = Checklist(lab, bar, runs_all=runs_all).run()
        except KeyboardInterrupt:
            say(
                "Interrupted. To continue with the runs made so far, run the same command again.",
                err=True,
            )
            sys.exit(INTERRUPTED)
        if record:
            checked.keep(record)
    try:
        if json_file:
            write_json(checked.diagnosis, json_file)
    finally:
        print_diagnosis(checked.diagnosis, sys.stdout)
    if fail_on == "leak" and checked.diagnosis.verdict.is_leak:
        sys.exit(FINDINGS)
    if checked.has_failed:
        _show_end(checked.last_lines)
        sys.exit(checked.exit_code)


def _show_end(lines: Sequence[str]) -> None:
    """What a program has written that fails as it is: its traceback, most likely."""
    say("\nLast output of the program:", err=True)
    for line in lines:
        say(f"  {line}".rstrip(), err=True)


def _seconds(budget: str | None) -> float | None:
    if budget is None:
        return None
    try:
        seconds = parse_duration(budget)
    except ValueError as error:
        raise UsageError(str(error)) from None
    if seconds <= 0:
        msg = "--budget must be more than 0"
        raise UsageError(msg, received=budget)
    return seconds


def _positive(name: str, value: int) -> int:
    if value < 1:
        raise UsageError(f"{name} must be 1 or more", received=str(value))
    return value
