"""`--why` shows each question behind the verdict, with its number, threshold and answer."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from lowwater.model import Diagnosis, Kind, Question, Unit, Verdict
from lowwater.model.experiment import Experiments
from lowwater.report.text import for_encoding, render
from replay.screens import SCREENS, screen_of

Told = Callable[[str], Diagnosis]


@pytest.mark.parametrize("name", ["leak-with-a-finding", "fragmented", "flat"])
def test_screen_with_the_questions_is_what_we_agreed_to_show(
    name: str, expected: Callable[[str, str], str]
) -> None:
    screen = render(screen_of(name), why=True)

    assert screen == expected(f"{name}-why.txt", screen)


@pytest.mark.parametrize("name", SCREENS)
def test_nothing_is_cut_at_80_columns(name: str) -> None:
    diagnosis = screen_of(name)

    tables = [*sections(render(diagnosis, why=True))]

    asked = [one for one in diagnosis.units if one.questions]
    assert len(tables) == len(asked)
    for table in tables:
        assert all(len(line) <= 80 for line in table.splitlines())
        assert not re.search(r"\S…", table)
    shown = " ".join(tables).split()
    for question in (question for one in asked for question in one.questions):
        assert {*question.text.split(), *question.threshold_name.split()} <= {*shown}


def sections(screen: str) -> Iterator[str]:
    """The parts of the screen that tell why, one for each unit."""
    return (part for part in screen.split("\n\n") if part.startswith("Why "))


@pytest.mark.parametrize("name", SCREENS)
def test_every_threshold_that_is_named_has_a_number(name: str) -> None:
    lines = render(screen_of(name), why=True).splitlines()

    for line in lines:
        for sign in "≥≤<>":
            assert f" {sign} 0 " not in line, line


@pytest.mark.parametrize("name", SCREENS)
def test_the_rest_of_the_screen_stays(name: str) -> None:
    diagnosis = screen_of(name)

    plain, asked = (render(diagnosis, why=why).splitlines() for why in (False, True))

    rest = iter(asked)
    assert all(line in rest for line in plain)
    assert len(asked) > len(plain)


def asked_one(told: Told, question: Question) -> str:
    leak = told("leak")
    return render(replace(leak, verdict=replace(leak.verdict, questions=(question,))), why=True)


@pytest.mark.parametrize(
    ("measured", "threshold", "name", "line"),
    [
        (5 << 20, 1 << 20, "resolution_bytes", "5.0 MiB  ≥ 1.0 MiB resolution_bytes  yes"),
        (0.2, 0.05, "noticeable_share", "20 %  ≥ 5 % noticeable_share  yes"),
        (12.5, 0.05, "noticeable_share", "1,250 %  ≥ 5 % noticeable_share  yes"),
        (1e-9, 0.001, "by_chance", "<0.01 %  ≥ 0.1 % by_chance  yes"),
        (0.3, 0.25, "alike**-2", "0.30  ≥ 0.25 alike**-2  yes"),
        (1200, 12, "enough_rounds", "1,200  ≥ 12 enough_rounds  yes"),
        (float("inf"), 3.0, "standard_errors", "Many?    ≥ 3.00 standard_errors  yes"),
    ],
)
def test_numbers_are_in_the_unit_of_their_threshold(
    told: Told, measured: float, threshold: float, name: str, line: str
) -> None:
    question = Question("Topic", "Many?", True, measured, "≥", name, threshold)

    assert line in asked_one(told, question)


def test_a_question_without_a_threshold_has_its_answer(told: Told) -> None:
    assert "Was it so?      no\n" in asked_one(told, Question("Topic", "Was it so?", answer=False))


def test_a_unit_on_a_device_and_its_reason_are_shown(told: Told) -> None:
    leak = told("leak")
    question = Question("Topic", "Was it so?", answer=True)
    device = replace(
        leak.verdict, kind=Kind.RESERVED, because="it is free", place="GPU:0", questions=(question,)
    )

    screen = render(replace(leak, units=(leak.verdict, device)), why=True)

    assert "Why reserved: epoch (GPU:0 memory, 12 epochs seen)\n  It is free.\n  Topic\n" in screen


def test_a_run_without_round_trips_has_no_questions(told: Told) -> None:
    assert "No questions: there are no round trips" in render(told("without-round-trips"), why=True)


def test_the_verdict_of_experiments_is_that_of_their_first_run(told: Told) -> None:
    leak = replace(told("leak"), experiments=Experiments((), 42.0))

    assert render(leak, why=True).startswith("LEAK  +4.0 MiB per epoch")


def test_text_of_a_recording_cannot_steer_the_terminal(told: Told) -> None:
    evil = "\x1b]0;owned\x07[red]x[/red]"
    question = Question("Topic", evil, answer=True)
    leak = told("leak")
    verdict = Verdict(Kind.FLAT, evil, Unit(9, evil), 5, questions=(question,))

    screen = render(replace(leak, units=(leak.verdict, verdict)), why=True)

    assert not set(screen) & {"\x1b", "\x07"}


def test_signs_have_plain_forms() -> None:
    screen = for_encoding(render(screen_of("fragmented"), why=True), "ascii")

    assert ">= 5 fewest_marks" in screen
    assert "<= 0.1 % by_chance" in screen
