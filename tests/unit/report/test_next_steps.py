"""What to do next begins with the fix that was found, and says nothing twice."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from lowwater.model import Diagnosis, Ending, Finding, Mending, MendState
from lowwater.report._next_steps import next_steps
from lowwater.report.json import to_dict
from lowwater.report.text import render

Told = Callable[[str], Diagnosis]
FINDING = Finding("LW102", "growing-container", "it grows", "empty it", "train.py:3")


def steps_of(diagnosis: Diagnosis, *findings: Finding) -> list[str]:
    return [step.text for step in next_steps(replace(diagnosis, findings=findings))]


@pytest.mark.parametrize(
    ("finding", "step"),
    [
        (FINDING, "Fix train.py:3 (see above)."),
        (replace(FINDING, where=None), "Fix LW102 (see above)."),
        (
            replace(FINDING, library="keras"),
            "Work around LW102, a leak in keras (see above).",
        ),
    ],
)
def test_first_step_points_to_the_fix_of_the_first_finding(
    told: Told, finding: Finding, step: str
) -> None:
    other = replace(FINDING, code="LW107", fix="something else")

    assert steps_of(told("leak"), finding, other) == [
        step,
        "After a change, check again (exits with status 3 while it leaks):",
    ]


def test_second_finding_with_a_share_is_in_the_first_step_too(told: Told) -> None:
    first, second = replace(FINDING, share=0.6), replace(FINDING, where="data.py:9", share=0.3)
    third = replace(FINDING, where="models.py:2", share=0.1)

    [step, _] = steps_of(told("leak"), first, second, third)

    assert step == "Fix train.py:3, and fix data.py:9 (see above)."


def test_two_findings_at_one_line_are_one_step(told: Told) -> None:
    first, second = replace(FINDING, share=0.6), replace(FINDING, code="LW107", share=0.3)

    assert steps_of(told("leak"), first, second)[0] == "Fix train.py:3 (see above)."


def test_leak_without_a_finding_is_searched_for(told: Told) -> None:
    assert steps_of(told("leak"))[0].startswith("Look at what each epoch keeps: a list")


def test_registry_is_not_explained_twice(told: Told) -> None:
    loop = told("leak-in-a-loop-of-models")

    assert "gradient registry" in steps_of(loop, FINDING)[1]
    assert not [
        step
        for step in steps_of(loop, replace(FINDING, code="LW205"), FINDING)
        if "gradient registry" in step
    ]


@pytest.mark.parametrize(("name", "code"), [("sawtooth", "LW108"), ("cache", "LW301")])
def test_advice_of_an_explanation_is_not_repeated(told: Told, name: str, code: str) -> None:
    explained = replace(FINDING, code=code)

    assert len(steps_of(told(name))) == 2
    assert steps_of(told(name), explained) == [
        "To catch future leaks, add this to your tests (exits with status 3 on a leak):"
    ]


def test_memory_growth_of_a_greedy_gpu_is_not_advised_twice(told: Told) -> None:
    reserved = told("reserved")
    on_device = replace(reserved, verdict=replace(reserved.verdict, place="GPU:0"))

    assert len(steps_of(on_device)) == 2
    assert len(steps_of(on_device, replace(FINDING, code="LW405"))) == 1


def test_program_that_does_not_leak_is_not_to_be_mended(told: Told) -> None:
    assert steps_of(told("flat"), FINDING) == steps_of(told("flat"))
    assert steps_of(told("inconclusive"), FINDING) == steps_of(told("inconclusive"))


LONGER = ("longer", "more epochs", "Let it run")
OOM = Ending(9.0, 1, out_of_memory=True, error="ResourceExhaustedError: OOM when allocating")
KILLED_FOR_MEMORY = Ending(9.0, None, signal=9, out_of_memory=True)
CRASHED = Ending(9.0, 1, error="AttributeError: no attribute 'validation_data'")


@pytest.mark.parametrize(
    "ending",
    [
        OOM,
        KILLED_FOR_MEMORY,
        CRASHED,
        Ending(9.0, None, signal=11),
        Ending(9.0, None, signal=9),
        Ending(9.0, 3),
    ],
)
def test_a_script_that_failed_is_never_told_to_run_longer(told: Told, ending: Ending) -> None:
    for name in ("inconclusive", "without-round-trips"):
        diagnosis = replace(told(name), ending=ending)

        assert not [step for step in steps_of(diagnosis) if any(one in step for one in LONGER)]
        assert not any(one in render(diagnosis).split("\n\n")[0] for one in LONGER)


@pytest.mark.parametrize("ending", [Ending(9.0, 0), Ending(9.0, None, signal=2), Ending(9.0, 130)])
def test_a_script_that_ended_well_or_was_interrupted_is(told: Told, ending: Ending) -> None:
    steps = steps_of(replace(told("inconclusive"), ending=ending))

    assert steps[0] == "Run it for at least 3 more epochs:"


@pytest.mark.parametrize("name", ["inconclusive", "leak", "flat"])
def test_a_crash_is_to_be_fixed_first(told: Told, name: str) -> None:
    first = steps_of(replace(told(name), ending=CRASHED))[0]

    assert first == "First fix the error that ended the script (see above)."


@pytest.mark.parametrize(
    ("name", "step"),
    [
        ("leak", "The program ran out of memory and leaks: fix the leak first."),
        ("flat", "The program ran out of memory without a leak: it needs more than is available. "),
        (
            "inconclusive",
            "The program ran out of memory before Lowwater could tell whether each epoch leaks. ",
        ),
    ],
)
@pytest.mark.parametrize("ending", [OOM, KILLED_FOR_MEMORY])
def test_who_ran_out_of_memory_gets_advice_that_fits(
    told: Told, name: str, step: str, ending: Ending
) -> None:
    assert steps_of(replace(told(name), ending=ending))[0].startswith(step)


@pytest.mark.parametrize(
    ("ending", "line"),
    [
        (OOM, "The program ran out of memory: ResourceExhaustedError: OOM when allocating."),
        (CRASHED, "The script failed: AttributeError: no attribute 'validation_data'."),
    ],
)
def test_the_screen_says_what_ended_the_script(told: Told, ending: Ending, line: str) -> None:
    diagnosis = replace(told("flat"), ending=ending)

    assert f"How it ended\n  {line}\n  The program ended with exit code 1" in render(diagnosis)
    assert to_dict(diagnosis)["ending"]["error"] == ending.error


def test_what_was_mended_is_mended_in_the_next_run_too_and_is_no_advice(told: Told) -> None:
    mending = Mending("LW205", "gradient registry", "tensorflow", MendState.APPLIED, "")
    mended = replace(told("leak-in-a-loop-of-models"), mended=(mending,))
    steps = next_steps(replace(mended, findings=(FINDING,)))

    assert not any("gradient registry" in step.text for step in steps)
    assert (steps[-1].command or "").startswith("lowwater run --mend --fail-on leak ")
