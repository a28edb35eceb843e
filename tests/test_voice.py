"""What a user can read has none of the phrases that docs/voice.md lists."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "lowwater"
VOICE = (ROOT / "docs" / "voice.md").read_text(encoding="utf-8")
# What no user reads: helpers for tests.
UNREAD = frozenset({"testing.py"})
# What a user reads apart from the tool itself; the pages of causes are generated from docstrings.
PAGES = sorted(
    [
        ROOT / "README.md",
        ROOT / "CHANGELOG.md",
        ROOT / "CONTRIBUTING.md",
        *(ROOT / "docs" / "how-to").glob("*.md"),
        *(ROOT / "docs" / "explanation").glob("*.md"),
        *(
            ROOT / "docs" / f"{name}.md"
            for name in (
                *("architecture", "glossary", "measurements", "recording-format", "traps"),
                "what-really-frees-memory",
            )
        ),
        *(path for path in (ROOT / "news").glob("*.md") if path.stem != "README"),
    ]
)
FILES = sorted(path for path in SOURCE.rglob("*.py") if path.name not in UNREAD)
Described = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def phrases() -> list[str]:
    [block] = re.findall(r"```phrases\n(.*?)```", VOICE, re.DOTALL)
    return block.splitlines()


PHRASES = re.compile(
    "|".join(rf"(?<!\w){re.escape(phrase)}(?!\w)" for phrase in phrases()), re.IGNORECASE
)


def texts(path: Path) -> Iterator[tuple[int, str]]:
    """The strings with a blank in them, and of the docstrings those that a user is shown."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    hidden = set()
    for node in ast.walk(tree):
        if isinstance(node, Described) and ast.get_docstring(node) and not is_shown(node, path):
            statement = node.body[0]
            assert isinstance(statement, ast.Expr)
            hidden.add(statement.value)
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            # A phrase may go on behind a value, but not across it.
            hidden.update(node.values)
            yield node.lineno, "\0".join(part.value for part in constants(node))
        elif isinstance(node, ast.Constant) and node not in hidden and is_text(node.value):
            yield node.lineno, node.value


def is_text(value: object) -> bool:
    return isinstance(value, str) and " " in value.strip()


def found_in(text: str) -> list[str]:
    return PHRASES.findall(" ".join(text.split()))


def constants(node: ast.JoinedStr) -> Iterator[ast.Constant]:
    return (part for part in node.values if isinstance(part, ast.Constant))


def is_shown(node: Described, path: Path) -> bool:
    """The page of a cause, which `lowwater explain` shows, and the help of a command."""
    if isinstance(node, ast.ClassDef):
        bases = [base.id for base in node.bases if isinstance(base, ast.Name)]
        return path.parent.name == "causes" and "Cause" in bases
    is_function = isinstance(node, ast.FunctionDef)
    return is_function and any("click" in ast.unparse(one) for one in node.decorator_list)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_no_text_has_a_phrase_that_we_do_not_use_any_more(path: Path) -> None:
    found = [
        f"{path.name}:{line}: {phrase!r} in {text!r}"
        for line, text in texts(path)
        for phrase in found_in(text)
    ]

    assert not found, "\n".join(found)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_no_page_has_such_a_phrase(path: Path) -> None:
    assert not found_in(path.read_text(encoding="utf-8"))


def test_every_kind_of_text_is_seen() -> None:
    def seen(name: str) -> str:
        return "\n".join(text for _, text in texts(SOURCE / name))

    assert "Do not prompt." in seen("cli/diagnose.py")
    assert "by short experiments" in seen("cli/diagnose.py")
    assert "A callback lives as long as" in seen("causes/callback_retention.py")
    assert " is the cause: " in seen("diagnose/conclude.py")
    assert "Hardly begun." not in seen("verdict/reasons.py")


def test_phrase_is_found_across_a_line_break_and_in_any_case() -> None:
    assert found_in("Its fix Stands\n    above.") == ["Stands above"]
    assert not found_in("however many")
