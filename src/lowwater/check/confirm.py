"""What a run says about the findings in its source: confirmed, acquitted, or not seen."""

import os
from collections.abc import Iterator
from dataclasses import replace

from lowwater.model import Diagnosis, Finding
from lowwater.model.source import SourceFinding, SourceReport
from lowwater.model.units import format_growth


def with_run(report: SourceReport, diagnosis: Diagnosis) -> SourceReport:
    """The same findings, each with what the run says, and what only the run has found."""
    files = frozenset(_files(diagnosis))
    told = tuple(replace(one, in_run=_told(one, diagnosis, files)) for one in report.findings)
    return replace(report, findings=told, only_in_run=tuple(_only(report, diagnosis)))


def _files(diagnosis: Diagnosis) -> Iterator[str]:
    """The files that the run is known to have used, by their last names."""
    yield os.path.basename(diagnosis.environment.get("script", ""))
    for verdict in diagnosis.units:
        if verdict.unit is not None and verdict.unit.where:
            yield _file_of(verdict.unit.where)
    for finding in diagnosis.findings:
        yield _file_of(finding.where or "")


def _file_of(where: str) -> str:
    return os.path.basename(where.rpartition(":")[0])


def _told(one: SourceFinding, diagnosis: Diagnosis, files: frozenset[str]) -> str:
    if os.path.basename(one.path) not in files:
        return "not in the run"
    seen = next((found for found in diagnosis.findings if _is_same(one, found)), None)
    if seen is not None and diagnosis.verdict.is_leak:
        return f"confirmed: {_growth(seen, diagnosis)}"
    if diagnosis.verdict.is_leak is None:
        return "not judged: the run was too short"
    if not diagnosis.verdict.is_leak:
        return f"acquitted: no leak in this run ({diagnosis.verdict.kind})"
    return "acquitted: this run leaks, but not here"


def _is_same(one: SourceFinding, found: Finding) -> bool:
    """The same cause in the same file: the lines may be those of two ends of one path."""
    return one.code == found.code and os.path.basename(one.path) == _file_of(found.where or "")


def is_seen(found: Finding, report: SourceReport) -> bool:
    """Whether reading the source has found what a run found."""
    return any(_is_same(one, found) for one in report.findings)


def _growth(found: Finding, diagnosis: Diagnosis) -> str:
    unit = diagnosis.verdict.unit
    per = f" per {unit.name}" if unit is not None else ""
    much = "grows" if found.bytes_per_unit is None else format_growth(found.bytes_per_unit) + per
    return f"{much} in this run, at {found.where}"


def _only(report: SourceReport, diagnosis: Diagnosis) -> Iterator[str]:
    for found in diagnosis.findings:
        if not is_seen(found, report):
            where = f"{found.where} " if found.where else ""
            yield f"{where}{found.code} {found.name}: {found.story}"
