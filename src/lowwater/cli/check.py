"""`lowwater check`: find the pitfalls in the source, before the run."""

import os
import sys
from dataclasses import replace

import click

from lowwater.cli._output import say
from lowwater.errors import UsageError
from lowwater.model.source import SourceReport

FOUND = 3
UNREADABLE = 5
INTERRUPTED = 130


@click.command()
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option(
    "--format",
    "output",
    type=click.Choice(["text", "json", "sarif", "github"]),
    default="text",
    help="How findings are printed.",
)
@click.option("--preview", "with_preview", is_flag=True, help="Show findings of new rules too.")
@click.option("--fix", "with_fix", is_flag=True, help="Apply safe fixes to the files.")
@click.option("--unsafe-fixes", "unsafe", is_flag=True, help="With --fix, apply unsafe ones too.")
@click.option("--diff", "with_diff", is_flag=True, help="Show what --fix would change.")
@click.option(
    "--recording",
    metavar="FILE",
    help="Mark what a run, saved with `lowwater run --record FILE`, confirms or acquits.",
)
@click.option("--no-cache", is_flag=True, help="Neither read nor write .lowwater_cache.")
@click.option(
    "--fail-on",
    type=click.Choice(["findings"]),
    help="Exit with status 3 if there are findings.",
)
def command(  # noqa: PLR0913 - one for each option
    *,
    paths: tuple[str, ...],
    output: str,
    with_preview: bool,
    with_fix: bool,
    unsafe: bool,
    with_diff: bool,
    recording: str | None,
    no_cache: bool,
    fail_on: str | None,
) -> None:
    """Find pitfalls in Python files and notebooks, without running them.

    PATH is a file or a folder; without one, the current folder is checked.
    """
    from lowwater.check.config import options_from
    from lowwater.check.run import run

    if unsafe and not (with_fix or with_diff):
        raise click.UsageError("--unsafe-fixes requires --fix or --diff")
    for path in paths:
        if not os.path.lexists(path):
            raise UsageError("no such file or folder", received=path)
    options = options_from(".")
    options = replace(options, preview=with_preview or options.preview)
    cache = None if no_cache else options.root
    try:
        report = run(paths or (".",), options, cache_folder=cache)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    if with_diff:
        _show_diff(report, unsafe=unsafe)
    else:
        if with_fix:
            from lowwater.check.mending import fix_all

            report = fix_all(
                report, lambda: run(paths or (".",), options, cache_folder=cache), unsafe=unsafe
            )
        if recording is not None:
            report = _with_run(report, recording)
        say(_rendered(report, output))
    if fail_on is not None and report.findings:
        sys.exit(FOUND)
    if report.files and len(report.unchecked) == report.files:
        sys.exit(UNREADABLE)


def _rendered(report: SourceReport, output: str) -> str:
    if output == "text":
        from lowwater.report import check_text

        return check_text.render(report)
    from lowwater import __version__
    from lowwater.report import check_json, github, sarif

    if output == "sarif":
        return sarif.render(report, __version__)
    return github.render(report) if output == "github" else check_json.render(report)


def _with_run(report: SourceReport, recording: str) -> SourceReport:
    from lowwater.check.confirm import with_run
    from lowwater.recording.reader import load
    from lowwater.supervisor.session import diagnose

    return with_run(report, diagnose(load(recording)))


def _show_diff(report: SourceReport, *, unsafe: bool) -> None:
    from lowwater.check.mending import fix

    for file in fix(report, unsafe=unsafe):
        say(file.diff.removesuffix("\n"))
