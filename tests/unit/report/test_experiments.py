"""The table of experiments as text and as JSON."""

import importlib.resources
import json
from dataclasses import replace

import jsonschema
import pytest

from lowwater.model import Diagnosis, Ending, Finding, Kind, Verdict
from lowwater.model.experiment import (
    Conclusion,
    Difference,
    Effect,
    Experiment,
    Experiments,
    Measured,
    State,
)
from lowwater.report import experiments
from lowwater.report import json as report_json

MIB = 1 << 20
FINDING = Finding("LW101", "callback-retention", "`Saver.kept` grows.", "Stop it.", "train.py:14")


def a_diagnosis(kind=Kind.LEAK):
    base = Measured(kind, "epoch", None, 12, 4 * MIB, (round(3.9 * MIB), round(4.1 * MIB)))
    flat = Measured(Kind.FLAT, "epoch", None, 12, 1024, (0, 2048))
    rows = (
        Experiment("as it is", "leaks", measured=base),
        Experiment(
            "without your callbacks",
            "stops: the callback Saver (train.py:6)",
            "callbacks",
            measured=flat,
            difference=Difference(Effect.STOPS, 1.0),
            codes=("LW101",),
        ),
        Experiment("CPU only", "no GPU here: nothing to compare", "cpu"),
    )
    conclusion = Conclusion(("The callback Saver is the cause.",), ((FINDING, State.CONFIRMED),))
    verdict = Verdict(kind, "memory in use stayed level")
    return Diagnosis(verdict, experiments=Experiments(rows, 42.0), conclusion=conclusion)


def test_table_shows_growth_interval_and_what_it_says():
    text = experiments.render(a_diagnosis(), width=120)

    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert lines[0] == "experiment growth per epoch result"
    assert lines[1] == "as it is +4.0 MiB (3.9 … 4.1) leaks"
    assert lines[2].startswith(
        "without your callbacks +1.0 KiB (0 B … 2.0 KiB) stops: the callback"
    )
    assert lines[3] == "CPU only — no GPU here: nothing to compare"


def test_conclusion_and_findings_follow_the_table():
    text = experiments.render(a_diagnosis(), width=120)

    assert "The callback Saver is the cause." in text
    assert "LW101 callback-retention   train.py:14" in text
    assert "  Confirmed by experiment.\n  Fix: " in text
    assert "\n  More: lowwater explain LW101\n" in text
    assert text.rstrip().endswith("2 runs in 42.0 s.")


def test_flat_program_has_nothing_to_find():
    text = experiments.render(a_diagnosis(Kind.FLAT), width=100)

    assert "No leak found. Memory in use stayed level." in text


def test_json_has_the_report_the_experiments_and_the_conclusion():
    content = json.loads(report_json.render(a_diagnosis()))

    assert content["schema"] == "lowwater.report/1"
    assert content["experiments"][1]["difference"] == {
        "effect": "stops",
        "share": 1.0,
        "because": "",
    }
    assert content["conclusion"]["findings"] == [
        {"code": "LW101", "where": "train.py:14", "state": "confirmed"}
    ]


def test_json_fits_the_schema_that_is_shipped():
    schema = json.loads(
        importlib.resources.files("lowwater.report").joinpath("report.schema.json").read_text()
    )

    jsonschema.validate(json.loads(report_json.render(a_diagnosis())), schema)


@pytest.mark.parametrize(
    ("measured", "told"),
    [
        (Measured(problem="KeyError: 'x'"), "the program fails: KeyError: 'x'."),
        (Measured(problem="the run was ended", was_ended=True), "the run was ended."),
    ],
)
def test_program_of_which_nothing_was_seen_has_a_reason(measured, told):
    diagnosis = a_diagnosis(Kind.INCONCLUSIVE)
    rows = (Experiment("as it is", measured.problem, measured=measured),)

    text = experiments.render(replace(diagnosis, experiments=Experiments(rows)), width=120)

    assert f"No diagnosis: {told}" in text


def test_flat_program_that_fails_at_its_end_says_so():
    diagnosis = replace(a_diagnosis(Kind.FLAT), ending=Ending(3.0, 5))

    assert "The program also failed: exit code 5." in experiments.render(diagnosis, width=200)


def test_program_that_does_not_leak_has_the_finding_that_explains_its_memory():
    waits = Finding("LW108", "waits-for-collector", "The collector is off.", "gc.enable()")
    diagnosis = replace(a_diagnosis(Kind.SAWTOOTH), findings=(waits,))

    text = experiments.render(diagnosis, width=120)

    assert "LW108 waits-for-collector\n  The collector is off.\n  More: lowwater explain" in text


def test_changes_that_were_not_needed_are_one_line():
    diagnosis = a_diagnosis()
    rows = [Experiment(name, "not needed", name) for name in ("eager", "heap")]
    all_rows = Experiments((*diagnosis.experiments.rows, *rows))

    text = experiments.render(replace(diagnosis, experiments=all_rows), width=120)

    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert lines[4] == "2 others — not needed (--all runs them)"
    assert "eager" not in text
