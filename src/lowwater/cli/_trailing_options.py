"""Options behind the script are the script's own, unless it takes none."""

import re
from pathlib import Path

import click

# By these names a program that reads its command line is known.
_READERS = re.compile(
    rb"\b(argv|argparse|parse_args|click|fire|typer|absl|optparse|getopt|docopt|hydra|tyro|"
    rb"simple_parsing|jsonargparse|tap|plac|sacred|cyclopts|pydantic_settings)\b"
)


class WithTrailingOptions(click.Command):
    """Takes its own options behind a script that reads no command line, too."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As ever; a second time with the options in front where they can only be meant for us."""
        given = [*args]
        rest = super().parse_args(ctx, args)
        behind, script = [*ctx.params.get("arguments", ())], ctx.params.get("script", "")
        if not behind or ctx.params.get("is_module") or reads_arguments(script):
            return rest
        in_front = [*given[: len(given) - len(behind) - 1], *behind, script]
        second = click.Context(self, info_name=ctx.info_name, parent=ctx.parent)
        try:
            super().parse_args(second, [*in_front])
        except click.NoSuchOption:
            return rest
        if second.params["script"] != script or second.params["arguments"]:
            return rest
        ctx.params.clear()
        ctx.params.update(second.params)
        return []


def reads_arguments(script: str) -> bool:
    """Whether a program could look at its command line, by its source and those beside it."""
    try:
        sources = [file.read_bytes() for file in (Path(script), *Path(script).parent.glob("*.py"))]
    except OSError:
        return True
    return any(_READERS.search(source) for source in sources)
