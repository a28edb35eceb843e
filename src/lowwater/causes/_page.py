"""The documentation of a cause, read off its docstring: the same text for terminal and pages."""

import inspect
import re
from dataclasses import dataclass

from lowwater.causes._cause import Cause

# A verdict that is no leak has no program that leaks, only one that seems to.
LEAKS = ("Leaks:", "Looks like a leak:")
FLAT = "Stays flat:"
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


def page_of(cause: Cause) -> Page:
    """Take the docstring of a cause apart."""
    text = inspect.cleandoc(type(cause).__doc__ or "")
    summary, _, rest = text.partition("\n")
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
    )


def _upstream(cause: Cause) -> str:
    """What is known where the leak lives in a library."""
    known = cause.known
    return f"{known.reference} What it costs: {known.costs}" if known else ""
