"""One door to the terminal: data is never parsed, and steers nothing."""

import io

import pytest
from rich.progress import Progress
from rich.rule import Rule
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from lowwater.report.screen import Screen, column

EVIL = "\x1b[31mE\x1b]0;t\x07 \\[/foo] [/data] [red]x[/red] :smile: \x9b2J\u202e\r\x7f\ud800"
HARMLESS = "?[31mE?]0;t? \\[/foo] [/data] [red]x[/red] :smile: ?2J????"


def drawn(*renderables, **how):
    file = io.StringIO()
    screen = Screen.drawing(file, 120, colour=False)
    screen.print(*renderables, **how)
    return file.getvalue()


def a_table():
    table = Table(EVIL, title=EVIL, caption=EVIL)
    table.add_row(EVIL)
    table.add_row(Text(EVIL))
    return table


@pytest.mark.parametrize(
    "renderable",
    [EVIL, Text(EVIL), a_table(), Rule(EVIL), Tree(EVIL)],
    ids=["string", "text", "table", "rule", "tree"],
)
def test_whatever_is_drawn_no_control_character_comes_out(renderable):
    shown = drawn(renderable)

    assert not [one for one in shown if not one.isprintable() and one != "\n"]
    assert ":smile:" in shown


def test_a_string_is_shown_as_it_is_but_for_its_control_characters():
    assert drawn(EVIL) == f"{HARMLESS}\n"


def test_nobody_can_ask_for_markup():
    assert drawn("[/data]", markup=True, highlight=True, emoji=True) == "[/data]\n"


def test_our_own_colours_stay():
    file = io.StringIO()

    Screen.drawing(file, 80, colour=True).print(Text("LEAK", "bold red"), Text("\x1b[32mx"))

    assert file.getvalue() == "\x1b[1;31mLEAK\x1b[0m ?[32mx\n"


def test_a_progress_bar_shows_names_as_data():
    file = io.StringIO()
    bar = Progress(column("{task.description}"), console=Screen.drawing(file, 120, colour=False))
    with bar:
        bar.add_task(EVIL, total=1)

    assert "\\[/foo] [/data] [red]x[/red] :smile:" in file.getvalue()
    assert "\x1b" not in file.getvalue()
