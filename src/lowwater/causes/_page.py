"""The documentation of a cause, read off its docstring: the same text for terminal and pages."""

import inspect
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from lowwater.causes._cause import Cause

# A verdict that is no leak has no program that leaks, only one that seems to.
LEAKS = ("Leaks:", "Looks like a leak:")
FLAT = "Stays flat:"
# What a docstring may tell besides of the source side, below the examples.
OF_SOURCE = ("Known problems:", "Fix safety:", "Applies to:")
_SECTION = re.compile(rf"\n({'|'.join(OF_SOURCE)})\n")
_EXAMPLES = re.compile(
    rf"(?P<prose>.*?)\n(?P<title>{'|'.join(LEAKS)})\n(?P<leaks>.*?)\n{FLAT}\n(?P<flat>.*)",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Page:
    """One cause, as it is documented."""

    title: str
    summary: str
    prose: str
    leaks_title: str
    leaks: str
    flat: str
    fix: str
    upstream: str
    # The title and the text of each section about the source side.
    of_source: tuple[tuple[str, str], ...]


def page_of(cause: Cause) -> Page:
    """Take the docstring of a cause apart."""
    text = inspect.cleandoc(type(cause).__doc__ or "")
    summary, _, rest = text.partition("\n")
    rest, *sections = _SECTION.split(rest)
    found = _EXAMPLES.fullmatch(rest)
    assert found is not None, f"{cause.code} has no examples"
    return Page(
        title=f"{cause.code} {cause.name}",
        summary=summary,
        prose=found["prose"].strip(),
        leaks_title=found["title"],
        leaks=inspect.cleandoc(found["leaks"]),
        flat=inspect.cleandoc(found["flat"]),
        fix=cause.fix,
        upstream=_upstream(cause),
        of_source=tuple(_of_source(cause, dict(zip(sections[::2], sections[1::2], strict=True)))),
    )


def _of_source(cause: Cause, sections: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """What `lowwater check` finds of it, in the words of the question and of the docstring."""
    if not cause.words:
        return
    yield "Found in source", " ".join((cause.find_in_source.__doc__ or "").split())
    for title in OF_SOURCE:
        if title in sections:
            yield title.rstrip(":"), " ".join(sections[title].split())
    if cause.measured:
        yield "Measured", f"{cause.measured[0].upper()}{cause.measured[1:]}."


def _upstream(cause: Cause) -> str:
    """What is known where the leak lives in a library."""
    known = cause.known
    return f"{known.reference} What it costs: {known.costs}" if known else ""
