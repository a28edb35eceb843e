"""The grammar of the first line of a specimen: what must be said about it.

    # expect: leak of 4194304 bytes per epoch; LW101 at 14,22 held by SavePredictions.saved
    # expect: no leak; fills until 8; LW302

Behind each `;` stands one expected finding: its code (or several that are equally right), the
lines that are right for it, the best first, and a text that its holder contains. One clause is
for the first finding; several are for causes that share the growth, each among the first three.
A rate that does not follow from the source is *about* what benchmarks/true_rates.py measures.
`fills until 8` says that an innocent program rises, and has stopped after eight rounds.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SPECIMENS = Path(__file__).parents[1] / "specimens"
_VERDICT = re.compile(
    r"# expect: (?P<kind>[\w -]+?)(?: of (?P<about>about )?(?P<bytes>\d+) bytes)?"
    r"(?: per (?P<unit>\w+))?(?: at (?P<where>\S+))?"
)
_FILLS = re.compile(r"fills until (?P<round>\d+)")
_FINDING = re.compile(
    r"(?P<codes>LW\d{3}(?:\|LW\d{3})*)(?: at (?P<lines>\d+(?:,\d+)*))?(?: held by (?P<holder>.+))?"
)
# What explains a run that does not leak, without accusing it.
INNOCENT = frozenset({"LW108", "LW206", "LW301", "LW302", "LW401", "LW402", "LW403"})
FIRST_FEW = 3
# A stated rate follows from the source; what comes with it (headers, lists) does not.
EXACT, ABOUT = 0.1, 0.15

Finding = Mapping[str, Any]


@dataclass(frozen=True)
class Expected:
    """One finding that a first line asks for."""

    codes: tuple[str, ...]
    lines: tuple[int, ...] = ()
    holder: str = ""

    def has_code(self, finding: Finding) -> bool:
        return finding["code"] in self.codes

    def has_line(self, finding: Finding) -> bool:
        line = str(finding["where"]).rpartition(":")[2]
        return not self.lines or (line.isdigit() and int(line) in self.lines)

    def matches(self, finding: Finding) -> bool:
        is_held = self.holder in (finding["holder"] or "")
        return self.has_code(finding) and self.has_line(finding) and is_held


@dataclass(frozen=True)
class Truth:
    """All that a first line says."""

    kind: str
    rate_bytes: int | None = None
    is_about: bool = False
    unit: str | None = None
    where: str | None = None
    fills_until: int | None = None
    findings: tuple[Expected, ...] = ()

    @property
    def is_leak(self) -> bool:
        return self.kind == "leak"

    @property
    def tolerance(self) -> float:
        return ABOUT if self.is_about else EXACT

    @property
    def considered(self) -> int:
        """How many findings, from the first, may be the expected ones."""
        return 1 if self.is_leak and len(self.findings) == 1 else FIRST_FEW


def truth_of(path: Path) -> Truth:
    """What the first line of a specimen says."""
    return parse(path.read_text().splitlines()[0])


def parse(line: str) -> Truth:
    """Read one first line; a ValueError shows what is not understood."""
    verdict, *clauses = line.split("; ")
    parts = _matched(_VERDICT, verdict)
    fills = [_FILLS.fullmatch(clause) for clause in clauses]
    findings = [clause for clause, fill in zip(clauses, fills, strict=True) if not fill]
    return Truth(
        parts["kind"],
        int(parts["bytes"]) if parts["bytes"] else None,
        parts["about"] is not None,
        parts["unit"],
        parts["where"],
        next((int(fill["round"]) for fill in fills if fill), None),
        tuple(map(_expected, findings)),
    )


def _expected(clause: str) -> Expected:
    parts = _matched(_FINDING, clause)
    lines = tuple(int(line) for line in (parts["lines"] or "").split(",") if line)
    return Expected(tuple(parts["codes"].split("|")), lines, parts["holder"] or "")


def _matched(pattern: re.Pattern[str], text: str) -> Mapping[str, Any]:
    found = pattern.fullmatch(text)
    if found is None:
        msg = f"not understood: {text!r}"
        raise ValueError(msg)
    return found.groupdict()


def verdict_faults(verdict: Mapping[str, Any], truth: Truth) -> list[str]:
    """What a verdict, as in the JSON report, says otherwise than the first line."""
    if truth.kind == "no leak":
        told = {"is_leak": (verdict["is_leak"], False)}
    else:
        told = {"kind": (verdict["kind"], truth.kind)}
    if truth.unit:
        told["unit"] = (verdict["unit"], truth.unit)
    if truth.where:
        told["where"] = (verdict["where"], truth.where)
    faults = [f"{name}: {is_} for {due}" for name, (is_, due) in told.items() if is_ != due]
    return faults + _rate_faults(verdict["growth_bytes_per_unit"], truth)


def _rate_faults(growth_bytes: int | None, truth: Truth) -> list[str]:
    if truth.rate_bytes is None:
        return []
    off = abs((growth_bytes or 0) / truth.rate_bytes - 1)
    return [f"growth: {growth_bytes} for {truth.rate_bytes}"] if off > truth.tolerance else []


def finding_faults(findings: Sequence[Finding], truth: Truth, *, is_leak: bool | None) -> list[str]:
    """What the findings, as in the JSON report, say otherwise than the first line."""
    shown = [(one["code"], one["where"], one["holder"]) for one in findings[:FIRST_FEW]]
    considered = findings[: truth.considered]
    faults = [
        f"not found: {clause} in {shown}"
        for clause in truth.findings
        if not any(map(clause.matches, considered))
    ]
    if not is_leak and {one["code"] for one in findings} - INNOCENT:
        faults.append(f"accused: {shown}")
    return faults
