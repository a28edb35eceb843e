"""How often verdict, cause and line are right: every specimen under `lowwater run --json`.

Nothing is asserted here; the tests do that. This prints what is so, on this machine, today.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

# The grammar of the first lines stands with the tests that hold us to them.
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from replay.first_line import INNOCENT, SPECIMENS, Expected, Finding, truth_of

TIMEOUT_S = 300


@dataclass(frozen=True)
class Row:
    """One specimen: what was expected, and what was said."""

    name: str
    is_leak: bool
    said: str
    said_leak: bool | None
    first: str
    elapsed_s: float
    cause_right: bool | None = None
    line_right: bool | None = None

    @property
    def verdict_right(self) -> bool:
        """Whether leak or not was answered, and rightly."""
        return self.said_leak is self.is_leak

    def cells(self) -> str:
        """The row of the table."""
        truth = "leak" if self.is_leak else "no leak"
        marks = " | ".join(map(_mark, (self.verdict_right, self.cause_right, self.line_right)))
        seen = f"{self.said} | {self.first} | {marks} | {self.elapsed_s:.0f}"
        return f"| {self.name} | {truth} | {seen} |"


def watch(path: Path, keep: Path | None = None) -> Row:
    """Run one specimen in a folder of its own and hold the report against its first line."""
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(path, folder)
        report = _report_on(path.name, Path(folder))
        if keep:
            shutil.copytree(folder, keep / path.stem, dirs_exist_ok=True)
    return _row(path, report, time.monotonic() - start)


def _report_on(script: str, folder: Path) -> dict[str, Any] | None:
    files = ["--json", "report.json", "--record", "recording"]
    command = [sys.executable, "-m", "lowwater", "run", *files, script]
    env = {"TF_CPP_MIN_LOG_LEVEL": "3", **os.environ}
    try:
        subprocess.run(
            command, cwd=folder, env=env, capture_output=True, timeout=TIMEOUT_S, check=False
        )
        return json.loads((folder / "report.json").read_text())
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None


def _row(path: Path, report: dict[str, Any] | None, elapsed_s: float) -> Row:
    truth = truth_of(path)
    is_leak, clauses = truth.is_leak, truth.findings
    if report is None:
        wrong = False if is_leak else None
        return Row(path.stem, is_leak, "no report", None, "", elapsed_s, wrong, wrong)
    findings, verdict = report["findings"], report["verdict"]
    considered = findings[: truth.considered]
    first = ", ".join(f"{one['code']} {_line(one)}".strip() for one in findings[:2])
    return Row(
        path.stem,
        is_leak,
        verdict["kind"],
        verdict["is_leak"],
        first,
        elapsed_s,
        *(_right(clauses, considered) if is_leak and clauses else _acquitted(findings, is_leak)),
    )


def _right(clauses: Sequence[Expected], findings: Sequence[Finding]) -> tuple[bool, bool]:
    codes = all(any(map(clause.has_code, findings)) for clause in clauses)
    lines = all(
        any(clause.has_code(one) and clause.has_line(one) for one in findings) for clause in clauses
    )
    return codes, lines


def _acquitted(findings: Sequence[Finding], is_leak: bool) -> tuple[bool | None, None]:  # noqa: FBT001
    accused = {one["code"] for one in findings} - INNOCENT
    return (None if is_leak else not accused), None


def _line(finding: dict[str, Any]) -> str:
    line = str(finding["where"] or "").rpartition(":")[2]
    return f":{line}" if line else ""


def _mark(is_right: bool | None) -> str:  # noqa: FBT001 - a cell of the table
    return {True: "yes", False: "**no**", None: ""}[is_right]


def summary(rows: list[Row]) -> list[str]:
    """Precision and recall of the verdict, and how often cause and line are right."""
    hits = sum(row.is_leak and row.said_leak is True for row in rows)
    accused = sum(row.said_leak is True for row in rows)
    leaks = sum(row.is_leak for row in rows)
    blamed = [row for row in rows if row.is_leak and row.cause_right is not None]
    innocent = [row for row in rows if not row.is_leak]
    spared = sum(bool(row.cause_right) for row in innocent)
    return [
        f"verdict right: {sum(row.verdict_right for row in rows)} of {len(rows)}",
        f"precision (leaks among those called a leak): {hits} of {accused}",
        f"recall (called a leak among the leaks): {hits} of {leaks}",
        f"first cause right: {sum(bool(row.cause_right) for row in blamed)} of {len(blamed)}",
        f"line right: {sum(bool(row.line_right) for row in blamed)} of {len(blamed)}",
        f"innocents not accused of a cause: {spared} of {len(innocent)}",
    ]


def main() -> None:
    """Watch the specimens, a few at a time, and print what came out."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", help="names that contain this text")
    parser.add_argument("--keep", type=Path, help="a folder for programs, reports, recordings")
    options = parser.parse_args()
    paths = [path for path in sorted(SPECIMENS.glob("*.py")) if (options.only or "") in path.stem]
    if find_spec("tf_keras") is None:
        paths = [path for path in paths if "tf_keras" not in path.read_text()]
    print("| specimen | truth | verdict | findings | verdict right | cause | line | s |")
    print("|---|---|---|---|---|---|---|---|")
    rows = []
    with ThreadPoolExecutor(options.jobs) as pool:
        for row in pool.map(partial(watch, keep=options.keep), paths):
            rows.append(row)
            print(row.cells(), flush=True)
    print()
    for line in summary(rows):
        print(f"- {line}")


if __name__ == "__main__":
    main()
