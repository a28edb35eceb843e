"""What to do next begins with the fix that was found, and says nothing twice."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from lowwater.model import Diagnosis, Finding
from lowwater.report._next_steps import next_steps

Told = Callable[[str], Diagnosis]
FINDING = Finding("LW102", "growing-container", "it grows", "empty it", "train.py:3")


def steps_of(diagnosis: Diagnosis, *findings: Finding) -> list[str]:
    return [step.text for step in next_steps(replace(diagnosis, findings=findings))]


@pytest.mark.parametrize(
    ("finding", "step"),
    [
        (FINDING, "Mend train.py:3 (LW102): its fix stands above."),
        (replace(FINDING, where=None), "Mend LW102: its fix stands above."),
        (
            replace(FINDING, library="keras"),
            "Work around LW102, a leak of keras: its fix stands above.",
        ),
    ],
)
def test_first_step_points_to_the_fix_of_the_first_finding(
    told: Told, finding: Finding, step: str
) -> None:
    other = replace(FINDING, code="LW107", fix="something else")

    assert steps_of(told("leak"), finding, other) == [
        step,
        "After a change, look again (exit code 3 while it leaks):",
    ]


def test_second_finding_with_a_share_is_a_step_too(told: Told) -> None:
    first, second = replace(FINDING, share=0.6), replace(FINDING, code="LW107", share=0.3)

    assert steps_of(told("leak"), first, second, replace(second, code="LW101"))[:2] == [
        "Mend train.py:3 (LW102): its fix stands above.",
        "Mend train.py:3 (LW107): its fix stands above.",
    ]


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
    assert steps_of(told(name), explained) == ["To keep it so, test with (exit code 3 on a leak):"]


def test_memory_growth_of_a_greedy_gpu_is_not_advised_twice(told: Told) -> None:
    reserved = told("reserved")
    on_device = replace(reserved, verdict=replace(reserved.verdict, place="GPU:0"))

    assert len(steps_of(on_device)) == 2
    assert len(steps_of(on_device, replace(FINDING, code="LW405"))) == 1


def test_program_that_does_not_leak_is_not_to_be_mended(told: Told) -> None:
    assert steps_of(told("flat"), FINDING) == steps_of(told("flat"))
    assert steps_of(told("inconclusive"), FINDING) == steps_of(told("inconclusive"))
