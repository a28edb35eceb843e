"""`lowwater gpu`: which process holds the memory of each GPU, and what looks idle."""

import math
import shutil
import sys

import click

from lowwater.cli._exit_status import GATE_FAILED
from lowwater.cli._output import say, show
from lowwater.model import NotMeasured
from lowwater.model.gpu_holders import HeldGpus, Need
from lowwater.model.units import parse_bytes
from lowwater.probes.nvml import Driver
from lowwater.report.gpu_holders import need_of
from lowwater.supervisor.gpus import looks, opened_driver

_WIDEST = 100
_LONGEST_S = 86_400


def _size(_: click.Context, __: click.Parameter, given: str | None) -> int | None:
    if given is None:
        return None
    try:
        size = parse_bytes(given)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None
    if size <= 0:
        raise click.BadParameter(f"must be more than 0: {given!r}")
    return size


def _seconds(_: click.Context, __: click.Parameter, given: str | None) -> float | None:
    if given is None:
        return None
    try:
        seconds = float(given)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds <= _LONGEST_S:
        raise click.BadParameter(f"not a number of seconds: {given!r} (write it like 2 or 0.5)")
    return seconds


@click.command()
@click.option("--json", "is_json", is_flag=True, help="Print JSON instead of a table.")
@click.option(
    "--watch",
    "every_s",
    callback=_seconds,
    metavar="[SECONDS]",
    is_flag=False,
    flag_value="2",
    help="Repeat every SECONDS (2 if not given), until Ctrl-C.",
)
@click.option(
    "--need",
    "need_bytes",
    callback=_size,
    metavar="SIZE",
    help='Exit with status 4 unless a GPU has SIZE free, e.g. "6 GiB".',
)
def command(*, is_json: bool, every_s: float | None, need_bytes: int | None) -> None:
    """Show which processes hold GPU memory, and which look idle.

    It says how to free the memory, but never ends a process.
    """
    if every_s is not None and need_bytes is not None:
        raise click.UsageError("--need cannot be combined with --watch")
    with opened_driver() as driver:
        if every_s is not None:
            _watch(driver, every_s, is_json=is_json)
            return
        gpus = next(looks(driver))
    need = None if need_bytes is None else need_of(need_bytes, gpus)
    _tell(gpus, need, is_json=is_json)
    if need is not None and not need.is_met:
        sys.exit(GATE_FAILED)


def _watch(driver: Driver | NotMeasured, every_s: float, *, is_json: bool) -> None:
    try:
        for gpus in looks(driver, every_s):
            _tell(gpus, None, is_json=is_json, is_repeated=True)
    except KeyboardInterrupt:
        if sys.stdout.isatty():
            say()


def _tell(gpus: HeldGpus, need: Need | None, *, is_json: bool, is_repeated: bool = False) -> None:
    if is_json:
        from lowwater.report import gpus_json

        # One document on each line where there are several.
        show(gpus_json.render(gpus, need, indent=None if is_repeated else 2), sys.stdout)
    elif need is not None:
        say(need.because)
    else:
        _draw(gpus, is_repeated=is_repeated)


def _draw(gpus: HeldGpus, *, is_repeated: bool) -> None:
    from lowwater.report import gpus as screen

    is_terminal = sys.stdout.isatty()
    width = min(_WIDEST, shutil.get_terminal_size().columns)
    text = screen.render(gpus, width=width, colour=is_terminal)
    if is_repeated and is_terminal:
        from lowwater.report.screen import Screen

        Screen(file=sys.stdout).clear()
    elif is_repeated:
        text += "\n"
    show(text, sys.stdout)
