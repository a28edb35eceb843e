"""Writes the pages of the causes from their docstrings, and the screen of the demo in README.

$ python docs/generate.py           # write them
$ python docs/generate.py --check   # say which are out of date, and exit with 1

The screen is that of docs/demo.lw. To record it again, with TensorFlow installed:

$ cd src/lowwater/cli/_demo && lowwater run --record ../../../../docs/demo.lw leaking.py
"""
# ruff: noqa: INP001 - a program beside the pages that it writes, not a package

import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from lowwater.causes._page import FLAT, Page, page_of
from lowwater.causes.catalogue import CAUSES
from lowwater.model.assignment import Assignment
from lowwater.recording.reader import load
from lowwater.report import text as screen
from lowwater.supervisor.session import diagnose, with_source

DOCS = Path(__file__).parent
FOLDER = DOCS / "reference" / "causes"
README = DOCS.parent / "README.md"
# What is between these lines of README is written here.
_DEMO = re.compile(r"(?<=<!-- demo:start -->\n).*?(?=<!-- demo:end -->\n)", re.DOTALL)
_DEMO_SCRIPT = DOCS.parent / "src" / "lowwater" / "cli" / "_demo" / "leaking.py"
_WIDTH = 80


def pages() -> Iterator[tuple[Path, str]]:
    """Every page with its text, the list of all first."""
    causes = sorted(CAUSES, key=lambda cause: cause.code)
    rows = (
        f"| [{cause.code}]({cause.code}.md) | {cause.name} | {page_of(cause).summary} |"
        for cause in causes
    )
    head = "# Causes\n\n| Code | Name | What it is |\n|---|---|---|\n"
    yield FOLDER / "README.md", head + "\n".join(rows) + "\n"
    for cause in causes:
        yield FOLDER / f"{cause.code}.md", as_markdown(page_of(cause))


def as_markdown(page: Page) -> str:
    """One page, with the words of the docstring."""
    parts = [f"# {page.title}", page.summary, page.prose]
    for title, code in ((page.leaks_title, page.leaks), (FLAT, page.flat)):
        parts += [f"## {title.rstrip(':')}", f"```python\n{code}\n```"]
    if page.upstream:
        parts += ["## Upstream", page.upstream]
    parts += ["## Fix", page.fix]
    for title, text in page.of_source:
        parts += [f"## {title}", text]
    return "\n\n".join(parts) + "\n"


def readme(text: str) -> str:
    """README with what the product says of the recorded demo today."""
    demo = Assignment(str(_DEMO_SCRIPT), [], is_module=False)
    diagnosis = with_source(diagnose(load(DOCS / "demo.lw")), demo, time.time())
    drawn = screen.render(diagnosis, width=_WIDTH)
    block = (
        "The demo trains a small model with a callback that keeps the predictions of every epoch.\n"
        "This is the last screen of `make demo`, with the numbers of one run:\n\n"
        f"```text\n{drawn.strip()}\n```\n"
    )
    written, found = _DEMO.subn(lambda _: block, text)
    if found != 1:
        msg = f"{README} has {found} places for the demo (expected: 1)"
        raise ValueError(msg)
    return written


def main(arguments: list[str]) -> int:
    """Write the pages, or compare them; the exit code says whether all is well."""
    wanted = {**dict(pages()), README: readme(README.read_text(encoding="utf-8"))}
    stale = [path for path, text in wanted.items() if _text_of(path) != text]
    stray = sorted(set(FOLDER.glob("*.md")) - set(wanted))
    if "--check" in arguments:
        for path in (*stale, *stray):
            sys.stderr.write(f"{path} is out of date. Try: python docs/generate.py\n")
        return 1 if stale or stray else 0
    FOLDER.mkdir(parents=True, exist_ok=True)
    for path in stray:
        path.unlink()
    for path in stale:
        path.write_text(wanted[path], encoding="utf-8")
    return 0


def _text_of(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.exists() else None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
