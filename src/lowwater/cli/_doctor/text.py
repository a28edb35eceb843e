"""A checkup, told: as lines for people and as data for programs."""

import textwrap
from collections.abc import Iterator, Mapping
from typing import Any

from lowwater.causes.upstream import KnownLeak
from lowwater.cli._doctor import Checkup
from lowwater.cli._doctor.surroundings import Fact
from lowwater.model import NotMeasured
from lowwater.model.units import format_bytes

SCHEMA = "lowwater.doctor/1"
WIDTH = 96


def as_text(checkup: Checkup) -> str:
    """The whole checkup, section by section."""
    blocks = [_section(title, facts) for title, facts in checkup.sections.items()]
    blocks.append(
        [
            "Known library leaks in the installed versions",
            *(line for leak, version in checkup.known_leaks for line in _leak(leak, version)),
            *([] if checkup.known_leaks else ["  none known"]),
        ]
    )
    reasons = {what: NotMeasured(why) for what, why in checkup.unmeasured.items()}
    blocks.append(_section("what cannot be measured here", reasons))
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


def as_data(checkup: Checkup) -> dict[str, Any]:
    """The checkup as JSON types; a fact that is missing says why."""
    return {
        "schema": SCHEMA,
        **{
            title: {name: _plain(fact) for name, fact in facts.items()}
            for title, facts in checkup.sections.items()
        },
        "known_leaks": [_leak_data(leak, version) for leak, version in checkup.known_leaks],
        "unmeasured": dict(checkup.unmeasured),
    }


def _section(title: str, facts: Mapping[str, Fact]) -> list[str]:
    names = {name: _label(name) for name in facts}
    margin = max(map(len, names.values()), default=0) + 4
    return [
        title[0].upper() + title[1:],
        *(
            textwrap.fill(
                _shown(fact),
                WIDTH,
                initial_indent=f"  {names[name]}".ljust(margin),
                subsequent_indent=" " * margin,
                break_long_words=False,
                break_on_hyphens=False,
            )
            for name, fact in facts.items()
        ),
    ]


def _label(name: str) -> str:
    # Settings and packages are shown as they are typed.
    return name.removesuffix("_bytes").replace("_", " ") if name.endswith("_bytes") else name


def _shown(fact: Fact) -> str:
    if isinstance(fact, NotMeasured):
        return fact.why
    return format_bytes(fact) if isinstance(fact, int) else fact


def _leak(leak: KnownLeak, version: str) -> Iterator[str]:
    yield f"  {leak.code} {leak.name}: {leak.library} {version}"
    parts = {
        "what": leak.what,
        "costs": leak.costs,
        "today": leak.advice,
        "affected": leak.affected,
        "issue": leak.issue or "none known",
    }
    for name, text in parts.items():
        yield textwrap.fill(
            text,
            WIDTH,
            initial_indent=f"    {name}".ljust(14),
            subsequent_indent=" " * 14,
            break_on_hyphens=False,
        )


def _leak_data(leak: KnownLeak, version: str) -> dict[str, str | None]:
    return {
        "code": leak.code,
        "name": leak.name,
        "library": leak.library,
        "version": version,
        "affected": leak.affected,
        "issue": leak.issue,
        "what": leak.what,
        "costs": leak.costs,
        "advice": leak.advice,
    }


def _plain(fact: Fact) -> str | int | dict[str, str]:
    return {"not_measured": fact.why} if isinstance(fact, NotMeasured) else fact
