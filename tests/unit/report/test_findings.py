"""Findings name the cause, the line and the fix, and accuse only where something leaks."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from lowwater.model import Diagnosis, Finding, InSource
from lowwater.report.text import render
from replay.screens import screen_of

Told = Callable[[str], Diagnosis]
PAGE = Path(__file__).parents[3] / "docs" / "explanation" / "how-to-read-a-leak-trace.md"


def section_of(screen: str, start: str) -> list[str]:
    """The lines from the one that begins so to the next empty one."""
    lines = screen.splitlines()
    first = next(number for number, line in enumerate(lines) if line.startswith(start))
    return lines[first : lines.index("", first)]


def found(diagnosis: Diagnosis, *findings: Finding, width: int = 80) -> str:
    return render(replace(diagnosis, findings=findings), width=width)


def plain(code: str = "LW102", **changes: object) -> Finding:
    finding = Finding(code, "growing-container", "it grows", "Empty it.", "train.py:3", share=0.5)
    return replace(finding, **changes)  # type: ignore[arg-type]


def test_finding_without_a_trace_is_four_lines(told: Told) -> None:
    assert section_of(found(told("leak"), plain()), "LW102") == [
        "LW102 growing-container   train.py:3   50 % of the growth",
        "  It grows.",
        "  Fix: Empty it.",
        "  More: lowwater explain LW102",
    ]


def test_findings_stand_between_the_reason_and_all_else(told: Told) -> None:
    screen = render(told("leak-with-a-finding"), verbose=True)

    assert screen.index("At this rate") < screen.index("LW101") < screen.index("Also judged")


def test_findings_are_a_blank_line_apart_and_the_fourth_is_a_title_only(told: Told) -> None:
    codes = [f"LW10{number}" for number in range(1, 6)]

    screen = found(told("leak"), *map(plain, codes))

    assert "explain LW101\n\nLW102 growing-container" in screen
    assert section_of(screen, "LW104") == [
        "LW104 growing-container   train.py:3   50 % of the growth",
        "LW105 growing-container   train.py:3   50 % of the growth",
    ]


def test_line_that_is_not_known_is_said_so(told: Told) -> None:
    title = section_of(found(told("leak"), plain(where=None)), "LW102")[0]

    assert title == "LW102 growing-container   line unknown   50 % of the growth"


@pytest.mark.parametrize(
    ("share", "words"),
    [(1.0, "100 %"), (0.98, "98 %"), (0.004, "under 1 %"), (0.0, "0 %")],
)
def test_share_is_told_in_whole_percent(told: Told, share: float, words: str) -> None:
    title = section_of(found(told("leak"), plain(share=share)), "LW102")[0]

    assert title.endswith(f"   {words} of the growth")


def test_share_that_is_not_known_is_left_out(told: Told) -> None:
    assert "of the growth" not in found(told("leak"), plain(share=None))


def test_title_that_does_not_fit_breaks_before_the_line(told: Told) -> None:
    long = plain(where="experiments/" * 9 + "train.py:3")

    assert section_of(found(told("leak"), long), "LW102")[:2] == [
        "LW102 growing-container",
        "  …ents/experiments/experiments/train.py:3   50 % of the growth",
    ]


def test_holder_is_named_where_neither_trace_nor_message_does(told: Told) -> None:
    held = "Held by `results`."

    assert held in found(told("leak"), plain(holder="results"))
    assert held not in found(told("leak"), plain(holder="results", story="`results` grows"))
    assert held not in found(
        told("leak"), plain(holder="results", trace=told("leak-with-a-finding").findings[0].trace)
    )


def test_leak_of_a_library_is_not_the_programs(told: Told) -> None:
    lines = section_of(found(told("leak"), plain(library="tensorflow")), "LW102")

    assert lines[0] == "LW102 growing-container   in tensorflow   train.py:3   50 % of the growth"
    assert " ".join(" ".join(lines).split()).count("not in your program. The line shows where") == 1


def test_leak_of_a_library_without_a_line_has_none_to_explain(told: Told) -> None:
    lines = section_of(found(told("leak"), plain(library="tensorflow", where=None)), "LW102")

    assert lines[:2] == [
        "LW102 growing-container   in tensorflow   50 % of the growth",
        "  The cause is in tensorflow, not in your program.",
    ]


def test_second_finding_has_its_line_and_its_fix_and_the_rest_with_all_details(told: Told) -> None:
    two = replace(told("leak"), findings=(plain("LW101"), plain("LW102")))

    assert section_of(render(two), "LW102")[1:] == ["  Fix: Empty it."]
    assert section_of(render(two, verbose=True), "LW102")[1:] == [
        "  It grows.",
        "  Fix: Empty it.",
        "  More: lowwater explain LW102",
    ]


def test_finding_that_check_sees_says_so(told: Told) -> None:
    assert section_of(found(told("leak"), plain(in_source=InSource.SEEN)), "LW102")[2:] == [
        "  Fix: Empty it.",
        "  More: lowwater explain LW102 (also found by lowwater check)",
    ]


@pytest.mark.parametrize("seen", [None, InSource.PREVIEW, InSource.NOT_SEEN])
def test_finding_that_check_does_not_report_has_no_word_of_it(
    told: Told, seen: InSource | None
) -> None:
    assert "lowwater check" not in found(told("leak"), plain(in_source=seen))


@pytest.mark.parametrize("name", ["leak-with-a-finding", "leak-with-two-findings"])
def test_leak_that_check_sees_still_fits_on_a_screen(name: str) -> None:
    judged = screen_of(name)
    seen = (replace(one, in_source=InSource.SEEN) for one in judged.findings)

    lines = found(judged, *seen).splitlines()

    assert sum("lowwater check" in line for line in lines) == 1
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 80


def test_finding_explains_where_nothing_leaks(told: Told) -> None:
    screen = found(told("flat"), plain("LW403", share=None), plain("LW401", where=None, share=None))

    assert (
        "What explains it\n"
        "  LW403 growing-container   train.py:3\n"
        "    It grows.\n"
        "    Advice: Empty it.\n"
        "    More: lowwater explain LW403\n"
        "\n"
        "  LW401 growing-container\n"
        "    Advice: Empty it.\n"
    ) in screen
    assert "Fix:" not in screen


def test_finding_is_a_guess_where_the_run_does_not_tell(told: Told) -> None:
    screen = found(told("inconclusive"), plain())

    assert section_of(screen, "Possible cause")[1].startswith("  LW102")
    assert "What explains it" not in screen


@pytest.mark.parametrize("name", ["leak", "leak-in-a-loop-of-models", "flat"])
def test_without_findings_there_is_no_word_of_them(told: Told, name: str) -> None:
    screen = render(told(name))

    assert not [word for word in ("LW", "Fix:", "What explains it", "explain") if word in screen]


def test_page_on_leak_traces_explains_what_is_drawn(told: Told) -> None:
    example = PAGE.read_text(encoding="utf-8").split("```\n")[1]

    assert example in render(told("leak-with-a-finding"))
