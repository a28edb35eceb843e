"""`lowwater diagnose`: the debugging checklist, run as experiments."""

import shutil
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lowwater.cli.run import FINDINGS, check_module, check_output, check_script
from lowwater.errors import UsageError
from lowwater.experiment import Experiment
from lowwater.experiments.cuts import Cuts
from lowwater.experiments.workplace import kept_folder, sandbox_in, writes_files
from lowwater.units import format_duration, parse_duration

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lowwater.checklist import Listener

_MANY_TIMES = (
    "The program is run several times, and seems to write files: each run writes them again. "
    "--sandbox lets each run in a copy of this folder."
)


@click.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.option("-m", "is_module", is_flag=True, help="SCRIPT is a module, as in python -m.")
@click.option("--epochs", default=12, show_default=True, help="Most epochs of each fit.")
@click.option("--steps", default=30, show_default=True, help="Most steps_per_epoch of each fit.")
@click.option("--rounds", default=14, show_default=True, help="Rounds after which a loop is left.")
@click.option("--budget", metavar="TIME", help='Start no run after this time, e.g. "10 min".')
@click.option("--all", "runs_all", is_flag=True, help="Run all, also when the cause is certain.")
@click.option("--sandbox", is_flag=True, help="Let each run in a copy of this folder.")
@click.option("-y", "--yes", is_flag=True, help="Ask nothing.")
@click.option("--fresh", is_flag=True, help="Use no runs of an earlier diagnosis.")
@click.option("--json", "json_file", metavar="FILE", help="Write the outcome as JSON to FILE.")
@click.option("--fail-on", type=click.Choice(["leak"]), help="Exit with 3 when there is one.")
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
    fresh: bool,
    json_file: str | None,
    fail_on: str | None,
    script: str,
    arguments: tuple[str, ...],
) -> None:
    """Find the cause of a leak in SCRIPT by leaving things out, one at a time.

    Short runs in clean processes: without your callbacks, with one repeated batch, eagerly, with
    the libraries mended, and so on. What stops the growth is the cause.
    """
    check_module(script) if is_module else check_script(script)
    check_output(json_file)
    budget_s = _seconds(budget)
    if not (sandbox or yes):
        _ask(script, is_module=is_module)
    from lowwater.checklist import Checklist, Plan

    cuts = Cuts(
        _positive("--epochs", epochs), _positive("--steps", steps), _positive("--rounds", rounds)
    )
    recordings = kept_folder(script, arguments, cuts, fresh=fresh)
    with tempfile.TemporaryDirectory(prefix="lowwater-") as folder:
        place = sandbox_in(folder) if sandbox else lambda _: None
        plan = Plan(script, [*arguments], is_module, cuts, recordings, budget_s, runs_all, place)
        with _shown() as listener:
            checked = Checklist(plan, listener).run()
    from lowwater.report import experiments, experiments_json

    if json_file:
        from lowwater.cli._output import write_text

        write_text(json_file, experiments_json.render(checked))
    width = min(100, shutil.get_terminal_size((100, 24)).columns)
    click.echo(experiments.render(checked, width=width, colour=sys.stdout.isatty()))
    if fail_on == "leak" and checked.diagnosis.verdict.is_leak:
        sys.exit(FINDINGS)


def _ask(script: str, *, is_module: bool) -> None:
    """Before the first run: what the program writes, it will write many times."""
    if is_module or not writes_files(Path(script).read_bytes()):
        return
    click.echo(f"warning: {_MANY_TIMES}", err=True)
    if sys.stdin.isatty() and not click.confirm("Go on?", err=True):
        raise UsageError("Nothing was run", advice="lowwater diagnose --sandbox …")


def _seconds(budget: str | None) -> float | None:
    if budget is None:
        return None
    try:
        return parse_duration(budget)
    except ValueError as error:
        raise UsageError(str(error)) from None


def _positive(name: str, value: int) -> int:
    if value < 1:
        raise UsageError(f"{name} has to be 1 or more", received=str(value))
    return value


@contextmanager
def _shown() -> "Iterator[Listener]":
    """Tell how far it has come: a spinner on a terminal, a line for each run elsewhere."""
    from rich.console import Console

    from lowwater.checklist import Listener

    console = Console(stderr=True, highlight=False)

    def expects(runs: int, each_s: float) -> None:
        told = format_duration(runs * each_s)
        console.print(f"It leaks. At most {runs} more runs follow, about {told}.", markup=False)

    with console.status("running the program as it is …") as status:

        def begins(name: str) -> None:
            status.update(f"running: {name} …")

        def done(one: Experiment) -> None:
            if one.measured is not None:
                took = format_duration(one.measured.elapsed_s)
                console.print(f"{one.name} ({took}): {one.says}", markup=False)

        yield Listener(begins, expects, done)
