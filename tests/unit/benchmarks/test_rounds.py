import runpy
from pathlib import Path

import pytest

PROGRAM = runpy.run_path(str(Path(__file__).parents[3] / "benchmarks" / "rounds.py"))


def readings(*, grown_bytes, objects):
    before = {"in_use_bytes": 200_000_000, "objects": 300_000}
    after = {"in_use_bytes": 200_000_000 + grown_bytes, "objects": 300_000 + objects}
    return {"before": before, "after": after, "rounds": []}


def line_of(program, advice, found, **options):
    compared = PROGRAM["compared"]
    compared.__globals__["READINGS"] = lambda *_, **__: found
    return compared(program, advice, **options)


@pytest.mark.parametrize(
    ("program", "grown_bytes", "objects", "told"),
    [
        ("dense", 20 * 20_000, 199, "flat"),
        ("dense", 20 * 20_000 + 20, 0, "grows"),
        ("dense", 0, 200, "grows"),
        ("mobilenet", 20 * 200_000, 0, "flat"),
        ("mobilenet", 20 * 200_000 + 20, 0, "grows"),
    ],
)
def test_line_is_judged_by_what_is_promised(program, grown_bytes, objects, told):
    found = readings(grown_bytes=grown_bytes, objects=objects)

    assert line_of(program, "mend", found).split()[-1] == told


def test_what_stays_once_is_less_per_round_the_more_rounds_there_are():
    found = readings(grown_bytes=40 * 20_000, objects=0)

    assert line_of("dense", "mend", found).split()[-1] == "grows"
    assert line_of("dense", "mend", found, rounds=40).split()[-1] == "flat"


def test_release_inside_the_function_that_built_the_model_is_one_of_the_ways():
    assert {("dense", "release_inside"), ("mobilenet", "release_inside")} <= {*PROGRAM["CASES"]}


def test_what_was_not_measured_says_why():
    found = {"not_measured": "tensorflow is not installed"}

    assert line_of("dense", "mend", found).endswith("not measured: tensorflow is not installed")
