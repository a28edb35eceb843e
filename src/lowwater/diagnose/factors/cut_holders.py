"""Let old items go, at the end of every round, from what the leak traces of the first run name."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from lowwater.diagnose.change import Change
from lowwater.diagnose.factors._factor import Factor
from lowwater.diagnose.factors.short_containers import ShortContainers
from lowwater.diagnose.facts import Facts, HeldFact
from lowwater.diagnose.paths import Hop
from lowwater.model.experiment import Fact


class CutHolders(Factor):
    """The edge that the trace underlines: a list, a dictionary, a memo, a table of a library."""

    key = "cut"
    name = "old items removed"
    cleared = "not what the findings name"
    blamed = "what the findings name"
    # What a callback, or code in a pipeline, keeps goes with it as well.
    covers = ("callbacks", "buffers", "generator")
    # A registry of TensorFlow holds most models as well.
    partner = "mended"
    instead = ShortContainers()

    def codes_in(self, facts: Facts) -> tuple[str, ...]:
        """Those of the findings that name a holder."""
        return tuple(one.code for one in facts.held)

    def tests(self, facts: Facts, detail: str) -> tuple[str, ...]:
        """The findings themselves."""
        return tuple(one.finding for one in _meant(facts, detail))

    def why_not(self, facts: Facts) -> str | None:
        """Some holder has to be known."""
        return None if facts.held else "no finding names a container that can be emptied"

    def parts(self, facts: Facts) -> dict[str, str]:
        """Each holder."""
        return {one.detail: _blamed(one) for one in facts.held}

    def part_name(self, detail: str) -> str:
        """By its line, or its name."""
        return f"old items removed: {detail}"

    def all_blamed(self, facts: Facts) -> str:
        """They may hold the same things, so that none alone lets them go."""
        told = [f"{_names(one)} ({one.where})" if one.where else _names(one) for one in facts.held]
        return f"what {', '.join(told[:-1])} and {told[-1]} keep together"

    def how(self, facts: Facts, detail: str) -> str:
        """The edge that was cut."""
        names = [name for one in _meant(facts, detail) for name in one.names]
        them = "them" if names[1:] else "it"
        return f"when old items are removed from {them} in every {facts.unit[0] or 'round'}"

    def places(self, facts: Facts, detail: str) -> tuple[str, ...]:
        """The lines that add to them."""
        return tuple(one.where for one in _meant(facts, detail) if one.where)

    def wanted(self, facts: Facts, detail: str) -> str:
        """The unit, and the paths."""
        paths = [path for one in _meant(facts, detail) for path in one.paths]
        return json.dumps({"unit": facts.unit, "paths": paths})

    def not_made(self, told: Mapping[str, Any], wanted: str) -> str:
        """A path that led nowhere in this run was not cut, and nothing was tested."""
        if _cut_in(told):
            return ""
        many = len(json.loads(wanted)["paths"]) > 1
        return f"nothing to remove was found {'at any of these places' if many else 'there'}"

    def left_out(self, told: Mapping[str, Any], wanted: str) -> str:
        """Where some paths were cut, and others not."""
        paths = len(json.loads(wanted)["paths"])
        count = paths - len(_cut_in(told))
        return f"{count} of {paths} containers could not be emptied" if count > 0 else ""

    def seen_facts(self, facts: Facts, told: Mapping[str, Any], wanted: str) -> Facts:
        """With the names of what was cut, where a trace was vague."""
        numbers: dict[tuple[Hop, ...], list[str]] = {}
        for number, path in enumerate(json.loads(wanted)["paths"]):
            below = [name for name in _cut_in(told).get(str(number), []) if name]
            numbers[tuple(Hop(*hop) for hop in path)] = below
        held = tuple(replace(one, names=_names_in(one, numbers)) for one in facts.held)
        return replace(facts, held=held)

    def apply(self, change: Change, detail: str) -> None:
        """At the boundaries of the unit in which growth is told."""
        told = json.loads(detail)
        name, where = told["unit"]
        change.let_go((name, where), [[Hop(*hop) for hop in path] for path in told["paths"]])


def _cut_in(told: Mapping[str, Any]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = told.get(Fact.PATHS_CUT, {})
    return found


def _names_in(held: HeldFact, cut: Mapping[tuple[Hop, ...], list[str]]) -> tuple[str, ...]:
    below = [name for path in held.paths for name in cut.get(path, [])]
    return tuple(dict.fromkeys(below)) or held.names


def _meant(facts: Facts, detail: str) -> list[HeldFact]:
    return [one for one in facts.held if detail in ("", one.detail)]


def _blamed(held: HeldFact) -> str:
    names = _names(held)
    keeps = "keep" if held.names[1:] else "keeps"
    return f"what {names} {keeps} ({held.where})" if held.where else f"what {names} {keeps}"


def _names(held: HeldFact) -> str:
    return " and ".join(f"`{name}`" for name in held.names)
