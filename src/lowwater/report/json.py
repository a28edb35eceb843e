"""The JSON report, `lowwater.report/1`: a contract that `report.schema.json` states in full."""

import json
from dataclasses import asdict
from importlib import resources
from typing import Any, Final

from lowwater.model import Diagnosis, Ending, Finding, Ledger, LedgerRow, TraceNode, Verdict
from lowwater.report import experiments_json, guard_json
from lowwater.report._words import signal_name

SCHEMA_NAME: Final = "lowwater.report/1"


def render(diagnosis: Diagnosis) -> str:
    """The report as indented JSON, in ASCII, so that any file or pipe can take it."""
    return json.dumps(to_dict(diagnosis), indent=2) + "\n"


def to_dict(diagnosis: Diagnosis) -> dict[str, Any]:
    """The report as plain data, ready for `json.dumps`."""
    return {
        "schema": SCHEMA_NAME,
        "verdict": _verdict(diagnosis.verdict),
        "units": [_unit(verdict) for verdict in diagnosis.units],
        "findings": [_finding(finding) for finding in diagnosis.findings],
        "ledger": _ledger(diagnosis.ledger),
        "notes": list(diagnosis.notes),
        "environment": dict(diagnosis.environment),
        # Its name in the contract; everywhere else a footprint is what a training step takes.
        "footprint": asdict(diagnosis.overhead) if diagnosis.overhead else None,
        "ending": _ending(diagnosis.ending) if diagnosis.ending else None,
        "autopsy": diagnosis.autopsy.to_dict() if diagnosis.autopsy else None,
        "mended": [asdict(mending) for mending in diagnosis.mended],
        "guard": guard_json.to_dict(diagnosis.guarded),
        **experiments_json.to_dict(diagnosis),
    }


def schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) that every report follows."""
    text = resources.files("lowwater.report").joinpath("report.schema.json").read_text("utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded


def _verdict(verdict: Verdict) -> dict[str, Any]:
    return {
        "kind": verdict.kind.value,
        "is_leak": verdict.is_leak,
        "is_slow": verdict.is_slow,
        "unit": verdict.unit.name if verdict.unit else None,
        "where": verdict.unit.where if verdict.unit else None,
        "place": verdict.place,
        "units_seen": verdict.units_seen,
        "growth_bytes_per_unit": verdict.growth_bytes_per_unit,
        "interval_bytes": list(verdict.interval_bytes) if verdict.interval_bytes else None,
        "more_units_needed": verdict.more_units_needed,
        "because": verdict.because,
    }


def _unit(verdict: Verdict) -> dict[str, Any]:
    told = _verdict(verdict)
    return {"unit": told["unit"], "where": told["where"], "verdict": told}


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "code": finding.code,
        "name": finding.name,
        "where": finding.where,
        "holder": finding.holder,
        "share": finding.share,
        "bytes_per_unit": finding.bytes_per_unit,
        "message": finding.message,
        "fix": finding.fix,
        "trace": [_trace_node(node) for node in finding.trace],
        "library": finding.library,
        "fingerprint": finding.fingerprint,
        "in_source": finding.in_source,
    }


def _trace_node(node: TraceNode) -> dict[str, Any]:
    return {
        "edge": node.edge,
        "what": node.what,
        "where": node.where,
        "status": node.status.value,
        "because": node.because,
        "is_suspect": node.is_suspect,
    }


def _ledger(ledger: Ledger) -> dict[str, Any]:
    return {
        "rows": [_row(row) for row in ledger.rows if row.series],
        "counts": {
            name: {"first": first, "last": last} for name, (first, last) in ledger.counts.items()
        },
        "unmeasured": dict(ledger.unmeasured),
    }


def _row(row: LedgerRow) -> dict[str, Any]:
    return {
        "layer": row.layer,
        "name": row.name,
        "first_bytes": row.first_bytes,
        "last_bytes": row.last_bytes,
        "highest_bytes": row.highest_bytes,
        "change_bytes": row.last_bytes - row.first_bytes,
        "series": list(row.series),
        "is_estimate": row.is_estimate,
        "remark": row.remark,
    }


def _ending(ending: Ending) -> dict[str, Any]:
    return {
        "elapsed_s": ending.elapsed_s,
        "exit_code": ending.exit_code,
        "signal": ending.signal,
        "signal_name": None if ending.signal is None else signal_name(ending.signal),
        "out_of_memory": ending.out_of_memory,
        "peak_rss_bytes": ending.peak_rss_bytes,
        "error": ending.error,
    }
