"""A run confirms or acquits what was found in its source."""

from dataclasses import replace
from pathlib import Path

import pytest

import lowwater.cli
from lowwater.check.confirm import with_run
from lowwater.check.run import run
from lowwater.model import Kind
from lowwater.recording.reader import load
from lowwater.supervisor.session import diagnose

DEMO = Path(lowwater.cli.__file__).parent / "_demo" / "leaking.py"
RECORDING = Path(__file__).parents[3] / "docs" / "demo.lw"


@pytest.fixture(scope="module")
def demo():
    return run([str(DEMO)]), diagnose(load(RECORDING))


def test_run_that_leaks_there_confirms(demo):
    report, diagnosis = demo

    told = with_run(report, diagnosis)

    assert [one.code for one in told.findings] == ["LW101"]
    assert told.findings[0].in_run == "confirmed: +4.1 MiB per epoch in this run, at leaking.py:17"
    assert told.only_in_run == ()


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        (Kind.FLAT, "acquitted: no leak in this run (flat)"),
        (Kind.INCONCLUSIVE, "not judged: the run was too short"),
        (Kind.LEAK, "acquitted: this run leaks, but not here"),
    ],
)
def test_run_that_does_not_leak_there_says_so(demo, kind, told):
    report, diagnosis = demo
    other = replace(diagnosis, verdict=replace(diagnosis.verdict, kind=kind), findings=())

    assert [one.in_run for one in with_run(report, other).findings] == [told]


def test_file_that_was_not_in_the_run_is_not_acquitted(demo):
    report, diagnosis = demo
    [finding] = report.findings
    elsewhere = replace(report, findings=(replace(finding, path="other.py"),))

    told = with_run(elsewhere, diagnosis)

    assert [one.in_run for one in told.findings] == ["not in the run"]
    assert told.only_in_run[0].startswith("leaking.py:17 LW101 callback-retention: ")
