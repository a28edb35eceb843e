"""`lowwater check --format sarif`: SARIF 2.1.0, as code scanning services read it."""

import json
import os
from collections.abc import Iterable
from typing import Any, Final
from urllib.parse import quote

from lowwater.causes._page import page_of
from lowwater.causes.catalogue import CAUSES
from lowwater.model.source import Edit, SourceFinding, SourceReport, SourceSpan

_SCHEMA: Final = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)


def render(report: SourceReport, version: str) -> str:
    """In ASCII, so that any pipe can take it."""
    return json.dumps(to_dict(report, version), indent=2)


def to_dict(report: SourceReport, version: str) -> dict[str, Any]:
    """One run of one tool."""
    codes = sorted({one.code for one in report.findings})
    driver = {"name": "lowwater", "version": version, "rules": [_rule(code) for code in codes]}
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_result(one, codes.index(one.code)) for one in report.findings],
        "invocations": [
            {
                "executionSuccessful": True,
                "toolExecutionNotifications": [
                    {
                        "level": "warning",
                        "message": {"text": f"not checked: {one.why}"},
                        "locations": [{"physicalLocation": {"artifactLocation": _uri(one.path)}}],
                    }
                    for one in report.unchecked
                ],
            }
        ],
    }
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(code: str) -> dict[str, Any]:
    cause = next((one for one in CAUSES if one.code == code), None)
    if cause is None:
        text = "A comment that allows findings has no reason, or allows nothing."
        return {"id": code, "name": "suppression", "shortDescription": {"text": text}}
    page = page_of(cause)
    return {
        "id": code,
        "name": cause.name,
        "shortDescription": {"text": page.summary},
        "fullDescription": {"text": " ".join(page.prose.split())},
        "help": {"text": cause.fix},
        "defaultConfiguration": {"level": "warning"},
    }


def _result(one: SourceFinding, index: int) -> dict[str, Any]:
    result = {
        "ruleId": one.code,
        "ruleIndex": index,
        "level": "warning",
        "message": {"text": f"{one.message} Fix: {one.fix}"},
        "locations": [
            {"physicalLocation": {"artifactLocation": _uri(one.path), "region": _region(one.span)}}
        ],
    }
    if one.cell is not None:
        result["properties"] = {"cell": one.cell}
    elif one.edits:
        change = {"artifactLocation": _uri(one.path), "replacements": [*_replacements(one.edits)]}
        result["fixes"] = [{"description": {"text": one.fix}, "artifactChanges": [change]}]
    return result


def _replacements(edits: Iterable[Edit]) -> Iterable[dict[str, Any]]:
    for edit in edits:
        yield {"deletedRegion": _region(edit.span), "insertedContent": {"text": edit.text}}


def _region(span: SourceSpan) -> dict[str, int]:
    return {
        "startLine": span.line,
        "startColumn": span.column,
        "endLine": span.end_line,
        "endColumn": span.end_column,
    }


def _uri(path: str) -> dict[str, str]:
    """Relative to where the command runs, as services want it."""
    return {"uri": quote(os.path.normpath(path).replace(os.sep, "/"), errors="replace")}
