"""Every command and option that the documentation names is there."""

import re
from pathlib import Path

import click
import pytest

from lowwater.cli import COMMANDS, cli

ROOT = Path(__file__).parents[3]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
# A command stands in a console block, in a screen, or between backticks; it ends with those.
COMMAND = re.compile(rf"\blowwater ((?:{'|'.join(COMMANDS)})\b[^`\n|]*)")
BESIDE_A_COMMAND = re.compile(r"`(--[a-z][a-z-]*)")


def command(name):
    return cli.get_command(click.Context(cli), name)


def options_of(name):
    with click.Context(command(name), help_option_names=["-h", "--help"]) as context:
        parameters = command(name).get_params(context)
    return {option for one in parameters for option in (*one.opts, *one.secondary_opts)}


def named(text):
    """The command, and the options before its script: what follows that is the script's own."""
    for line in COMMAND.findall(text):
        name, *words = line.split()
        yield name, [word.partition("=")[0] for word in own(name, words) if word.startswith("-")]


def own(name, words):
    """The words up to the script, which is the first that is no option and no value of one."""
    takes_value = {
        option
        for one in command(name).params
        if isinstance(one, click.Option) and not one.is_flag
        for option in one.opts
    }
    is_value = False
    for word in words:
        if not word.startswith("-") and not is_value:
            return
        yield word
        is_value = word in takes_value


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_option_of_a_documented_command_exists(page):
    text = page.read_text(encoding="utf-8")

    unknown = [
        f"lowwater {name} {option}"
        for name, options in named(text)
        for option in options
        if option not in options_of(name)
    ]

    assert not unknown


def test_every_option_that_the_page_of_diagnose_names_exists():
    page = (ROOT / "docs" / "how-to" / "diagnose.md").read_text(encoding="utf-8")

    mentioned = set(BESIDE_A_COMMAND.findall(page))

    assert len(mentioned) > 8
    assert mentioned <= options_of("diagnose")


def test_commands_are_seen_in_tables_blocks_and_sentences():
    text = "| `lowwater run --json a.json b.py --epochs 3` |\n$ lowwater diagnose --nope b.py\n"

    assert [*named(text)] == [("run", ["--json"]), ("diagnose", ["--nope"])]
    assert "--nope" not in options_of("diagnose")


def test_documentation_names_every_command():
    text = (ROOT / "README.md").read_text(encoding="utf-8")

    assert {name for name, _ in named(text)} == {*COMMANDS}
