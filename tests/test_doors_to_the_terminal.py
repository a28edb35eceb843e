"""Text from outside reaches a terminal through one door, which cleans it: no other is made.

`Screen` of `report/screen.py` is the door for what has colours, `say` of `cli/_output.py` for plain
text, and `LiveLine` for the one line that steers the cursor itself.
"""

import ast
import importlib.util
from pathlib import Path

import pytest

# What parses markup, or writes to a terminal -> the only file that may call it.
DOORS = {
    "Console": "report/screen.py",
    "TextColumn": "report/screen.py",
    # Its title is parsed, whatever the console says.
    "Panel": None,
    "get_console": None,
    "from_markup": None,
    "from_ansi": None,
    "render_markup": None,
    "print": None,
    "print_json": None,
    "secho": None,
    "echo": "cli/_output.py",
}
# `console.print` of a `Screen` is the way to draw on it; `rich.print` has a console of its own.
ALLOWED_OWNERS = {"print": {"console", "self._bar.console"}}


def calls_in(source):
    """The name of each call, with what stands before its dot."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            yield node.func.attr, ast.unparse(node.func.value), node.lineno
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            yield node.func.id, "", node.lineno


def side_doors(path, source):
    for name, owner, line in calls_in(source):
        is_allowed = path == DOORS.get(name, path) or owner in ALLOWED_OWNERS.get(name, ())
        if not is_allowed:
            yield f"{path}:{line} calls {name}: see the docstring of {Path(__file__).name}"


def test_nothing_in_the_package_has_a_door_of_its_own():
    [root] = importlib.util.find_spec("lowwater").submodule_search_locations
    files = {path: path.relative_to(root).as_posix() for path in Path(root).rglob("*.py")}
    found = [
        line
        for path, name in files.items()
        for line in side_doors(name, path.read_text(encoding="utf-8"))
    ]

    assert len(files) > 100
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "source",
    [
        "Console(stderr=True).print(name)",
        "rich.print(name)",
        "Text.from_markup(name)",
        "TextColumn(name)",
        "click.echo(name)",
        "print(name)",
    ],
)
def test_each_side_door_is_seen(source):
    assert [*side_doors("report/text.py", source)]


def test_a_screen_may_be_drawn_on():
    assert not [*side_doors("report/text.py", "console.print(name)\nsay(name)\n")]
