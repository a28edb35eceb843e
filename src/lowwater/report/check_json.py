"""`lowwater check --format json`, a contract: `lowwater.check/1`."""

import json
from dataclasses import asdict
from typing import Any, Final

from lowwater.model.source import SourceFinding, SourceReport

SCHEMA_NAME: Final = "lowwater.check/1"


def render(report: SourceReport) -> str:
    """In ASCII, so that any pipe can take it."""
    return json.dumps(to_dict(report), indent=2)


def to_dict(report: SourceReport) -> dict[str, Any]:
    """All findings as plain data."""
    return {
        "schema": SCHEMA_NAME,
        "findings": [_finding(one) for one in report.findings],
        "unchecked": [asdict(one) for one in report.unchecked],
        "only_in_run": [*report.only_in_run],
        "files": report.files,
    }


def _finding(one: SourceFinding) -> dict[str, Any]:
    return {
        "code": one.code,
        "name": one.name,
        "path": one.path,
        "cell": one.cell,
        **asdict(one.span),
        "message": one.message,
        "label": one.label,
        "fix": one.fix,
        "measured": one.measured or None,
        "in_run": one.in_run or None,
        "is_preview": one.is_preview,
        "is_fix_safe": one.is_safe if one.edits else None,
        "edits": [{**asdict(edit.span), "text": edit.text} for edit in one.edits],
    }
