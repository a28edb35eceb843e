"""`lowwater check`: find the pitfalls in the source, before the run."""

import os
import sys
from dataclasses import replace

import click

from lowwater.cli._output import say
from lowwater.errors import UsageError

FOUND = 3


@click.command()
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option("--preview", "with_preview", is_flag=True, help="Show findings of new rules too.")
@click.option("--no-cache", is_flag=True, help="Neither read nor write .lowwater_cache.")
@click.option(
    "--fail-on",
    type=click.Choice(["findings"]),
    help="Exit with status 3 if there are findings.",
)
def command(
    *, paths: tuple[str, ...], with_preview: bool, no_cache: bool, fail_on: str | None
) -> None:
    """Find pitfalls in Python files and notebooks, without running them.

    PATH is a file or a folder; without one, the current folder is checked.
    """
    from lowwater.check.config import options_from
    from lowwater.check.run import run
    from lowwater.report import check_text

    for path in paths:
        if not os.path.lexists(path):
            raise UsageError("no such file or folder", received=path)
    options = options_from(".")
    options = replace(options, preview=with_preview or options.preview)
    report = run(paths or (".",), options, cache_folder=None if no_cache else options.root)
    say(check_text.render(report))
    if fail_on is not None and report.findings:
        sys.exit(FOUND)
