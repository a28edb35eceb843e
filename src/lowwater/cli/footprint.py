"""`lowwater footprint`: the peak of a training step by batch size, and the largest that fits."""

import shutil
import sys

import click

from lowwater.cli._checks import check_module, check_output, check_script
from lowwater.cli._exit_status import GATE_FAILED
from lowwater.cli._output import say, show, write_text
from lowwater.cli._trailing_options import WithTrailingOptions
from lowwater.model.printable import one_line

_WIDEST = 80


@click.command(
    cls=WithTrailingOptions,
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
)
@click.option("-m", "is_module", is_flag=True, help="Treat SCRIPT as a module, like python -m.")
@click.option(
    "--limit",
    metavar="SIZE",
    help='Memory available for tensors, e.g. "8 GiB". Default: what the device or machine has.',
)
@click.option(
    "--batch-size",
    metavar="N",
    help="Report this batch size. Default: that of the script.",
)
@click.option(
    "--need-batch",
    metavar="N",
    help="Exit with status 4 if a batch of N does not fit, and try what would make it fit.",
)
@click.option("--json", "json_file", metavar="FILE", help="Write the report as JSON to FILE.")
@click.argument("script")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def command(  # noqa: PLR0913 - one parameter for each option
    *,
    is_module: bool,
    limit: str | None,
    batch_size: str | None,
    need_batch: str | None,
    json_file: str | None,
    script: str,
    arguments: tuple[str, ...],
) -> None:
    """Measure a training step of SCRIPT, and which batch fits.

    The script runs until its first `fit` or `train_on_batch`. Lowwater makes training steps
    there with its model and data, and ends it. Put its arguments after its name.
    """
    from lowwater.sizing.at_first_fit import Job
    from lowwater.sizing.limits import given_limit
    from lowwater.sizing.subject import parsed_batch_size

    limit_bytes = given_limit(limit, "--limit")
    wanted = parsed_batch_size(batch_size, "--batch-size")
    need = parsed_batch_size(need_batch, "--need-batch")
    check_module(script) if is_module else check_script(script, "footprint")
    check_output(json_file)
    from lowwater.sizing.scripts import answer_of

    answer = answer_of(Job(script, arguments, is_module, 0, wanted, need, limit_bytes))
    if json_file:
        from lowwater.report import footprint_json

        write_text(json_file, footprint_json.render(answer))
    from lowwater.report import footprint as screen

    width = min(_WIDEST, shutil.get_terminal_size().columns)
    show(screen.render(answer, width=width, colour=sys.stdout.isatty()), sys.stdout)
    if answer.need is not None and answer.need.fits is not True:
        say(f"error: {one_line(answer.need.because)}", err=True)
        sys.exit(GATE_FAILED)
