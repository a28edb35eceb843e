"""The final screen says the verdict, why, where the memory is, and what to type next."""

import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace

import pytest

from lowwater.model import (
    Diagnosis,
    Ending,
    Finding,
    Kind,
    Ledger,
    LedgerRow,
    Mending,
    MendState,
    Overhead,
    Status,
    TraceNode,
    Unit,
    Verdict,
)
from lowwater.report.text import for_encoding, render
from replay.screens import SCREENS, screen_of

Told = Callable[[str], Diagnosis]
ANSI = re.compile(r"\x1b\[[\d;]*m")


@pytest.mark.parametrize("name", SCREENS)
def test_screen_is_what_we_agreed_to_show(name: str, expected: Callable[[str, str], str]) -> None:
    screen = render(screen_of(name))

    assert screen == expected(f"{name}.txt", screen)


@pytest.mark.parametrize("width", [80, 120])
def test_screen_in_colour_is_what_we_agreed_to_show(
    width: int, expected: Callable[[str, str], str]
) -> None:
    screen = render(screen_of("leak-with-a-finding"), width=width, colour=True)

    assert screen == expected(f"leak-with-a-finding-{width}-in-colour.txt", screen)


def test_wide_screen_is_what_we_agreed_to_show(expected: Callable[[str, str], str]) -> None:
    screen = render(screen_of("leak-with-a-finding"), width=120)

    assert screen == expected("leak-with-a-finding-120.txt", screen)


def test_screen_with_all_details_is_what_we_agreed_to_show(
    expected: Callable[[str, str], str],
) -> None:
    screen = render(screen_of("leak-with-a-finding"), verbose=True)

    assert screen == expected("leak-with-a-finding-verbose.txt", screen)


@pytest.mark.parametrize("name", SCREENS)
def test_first_screen_fits_on_a_terminal(name: str) -> None:
    diagnosis = screen_of(name)

    lines = render(diagnosis).splitlines()

    assert len(lines) <= 40
    assert name != "flat" or len(lines) <= 10


def test_flat_run_with_something_to_know_says_it_and_what_to_do() -> None:
    noted = replace(screen_of("flat"), notes=("a probe failed",))

    shown = render(noted)

    assert "A probe failed." in shown
    assert "What to do next" in shown


def test_no_line_is_wider_than_the_screen_or_ends_in_blanks(case: Diagnosis) -> None:
    for line in render(case, width=80).splitlines():
        assert len(line) <= 80
        assert line == line.rstrip()


def test_colour_changes_no_word(case: Diagnosis) -> None:
    plain, coloured = render(case), render(case, colour=True)

    without_codes = [line.rstrip() for line in ANSI.sub("", coloured).splitlines()]
    assert without_codes == plain.splitlines()
    assert coloured != plain


@pytest.mark.parametrize(("name", "code"), [("leak", 31), ("flat", 32), ("reserved", 33)])
def test_leak_is_red_flat_is_green_and_the_rest_is_yellow(told: Told, name: str, code: int) -> None:
    assert render(told(name), colour=True).startswith(f"\x1b[1;{code}m")


def test_surroundings_do_not_change_the_screen(told: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    before = render(told("leak"), colour=True)
    for name, value in {"NO_COLOR": "1", "COLUMNS": "40", "TERM": "dumb"}.items():
        monkeypatch.setenv(name, value)

    assert render(told("leak"), colour=True) == before


@pytest.mark.parametrize("name", ["leak", "reserved"])
def test_long_command_is_not_broken(told: Told, name: str) -> None:
    script = "experiments/" + "very_" * 20 + "long.py"
    diagnosis = replace(told(name), environment={"script": script})
    diagnosis = replace(diagnosis, verdict=replace(diagnosis.verdict, kind=Kind.LEAK))

    assert f"lowwater run --fail-on leak {script}\n" in render(diagnosis)


def test_narrow_screen_drops_the_sparkline_then_the_start(told: Told) -> None:
    wide, narrow, narrowest = (
        render(told("leak"), width=width, verbose=True) for width in (80, 60, 50)
    )

    assert "start" in wide
    assert "█" in wide
    assert "start" in narrow
    assert "█" not in narrow
    assert "start" not in narrowest
    assert "malloc, in use         115.0 MiB  115.0 MiB" in narrowest


def test_text_from_a_recording_cannot_steer_the_terminal(told: Told) -> None:
    evil = "\x1b]0;owned\x07\x9b2J\u202e\u2066[red]x[/red] :smile:"
    unit = Unit(0, f"epoch{evil}", f"a.py{evil}:1")
    leak = told("leak-with-a-finding")
    node = TraceNode(evil, evil, Status.LEAKED, evil, where=evil, is_suspect=True)
    diagnosis = replace(
        leak,
        verdict=replace(leak.verdict, unit=unit, because=evil),
        units=(Verdict(Kind.FLAT, evil, replace(unit, id=9)),),
        findings=(Finding("LW101", evil, evil, evil, where=evil, holder=evil, trace=(node,)),),
        ledger=Ledger((LedgerRow(evil, evil, (1,), remark=evil),), {evil: evil}, {evil: (1, 2)}),
        notes=(evil,),
        environment={"script": evil},
    )

    screen = render(diagnosis)

    assert not set(screen) & {"\x1b", "\x07", "\x9b", "\u202e", "\u2066"}
    assert "[red]x[/red] :smile:" in screen


def test_change_that_is_small_beside_the_others_is_drawn_level_unless_it_leaks(told: Told) -> None:
    reserved = told("reserved")
    leaking = replace(reserved, verdict=replace(reserved.verdict, kind=Kind.LEAK))

    assert "73.0 MiB   73.0 MiB  ▁▁▁▁▁▁▁▁▁▁▁▁" in render(reserved, verbose=True)
    assert "73.0 MiB   73.0 MiB  ▁███████████" in render(leaking, verbose=True)


def test_long_verdict_breaks_before_its_brackets(told: Told) -> None:
    assert render(told("leak-in-a-loop-of-models")).startswith(
        "LEAK  +5.0 MiB per iteration at train.py:20\n"
        "      (host memory in use, 12 iterations seen)\n"
    )


def other(kind: Kind, name: str) -> Verdict:
    return Verdict(kind, "", Unit(7, name), 5)


def test_other_units_that_say_nothing_new_are_left_out(told: Told) -> None:
    flat = told("flat")
    others = (other(Kind.FLAT, "fit call"), other(Kind.INCONCLUSIVE, "predict call"))

    assert render(replace(flat, units=(flat.verdict, *others))) == render(flat)


def test_at_most_four_other_units_are_shown_leaks_first(told: Told) -> None:
    others = [other(Kind.FLAT, f"quiet {number}") for number in range(5)]
    leak = replace(other(Kind.LEAK, "fold"), growth_bytes_per_unit=2048)

    screen = render(replace(told("leak"), units=(*others, leak)), verbose=True)

    shown = screen.split("Also judged\n")[1].split("\n\n")[0].splitlines()
    assert shown[0] == "  leak  +2.0 KiB per fold (5 seen)"
    assert shown[3:] == [
        "  flat  quiet 2 (5 seen)",
        "  and 2 more; --json lists them all",
    ]


def test_same_unit_on_a_device_is_another_verdict(told: Told) -> None:
    flat = told("flat")
    device = replace(flat.verdict, kind=Kind.RESERVED, place="GPU:0")

    screen = render(replace(flat, units=(flat.verdict, device)), verbose=True)

    assert "reserved  epoch (GPU:0 memory, 12 seen)" in screen


def test_counts_that_stayed_are_not_shown(told: Told) -> None:
    screen = render(told("leak-in-a-loop-of-models"), verbose=True)

    assert "traced functions: 24 → 288" in screen
    assert "models alive" not in screen


def test_registry_is_named_only_where_it_grew_with_every_round(told: Told) -> None:
    loop = told("leak-in-a-loop-of-models")
    once = replace(loop, ledger=replace(loop.ledger, counts={"gradients": (0, 11)}))

    assert "gradient registry keeps every traced graph (12 → 144" in " ".join(render(loop).split())
    assert "keeps every traced graph" not in " ".join(render(once).split())


def test_epochs_of_one_fit_are_not_blamed_on_the_registry(told: Told) -> None:
    leak = told("leak")
    traced_once = replace(leak, ledger=replace(leak.ledger, counts={"gradients": (0, 40)}))

    assert "registry keeps" not in " ".join(render(traced_once).split())


@pytest.mark.parametrize(
    ("ending", "sentence"),
    [
        (Ending(5, 7), "The program ended with exit code 7 after 5.0 s."),
        (Ending(5, None, signal=11), "The program was killed by SIGSEGV after 5.0 s."),
        (Ending(5, None, signal=2), "The program was interrupted (SIGINT) after 5.0 s."),
        (Ending(5, None, signal=250), "The program was killed by signal 250 after 5.0 s."),
        (
            Ending(90, 1, out_of_memory=True),
            "The program ran out of memory and ended with exit code 1 after 1.5 min.",
        ),
    ],
)
def test_program_that_ended_badly_is_told(told: Told, ending: Ending, sentence: str) -> None:
    screen = render(replace(told("flat"), ending=ending))

    assert f"How it ended {sentence}" in " ".join(screen.split())


@pytest.mark.parametrize("ending", [None, Ending(5, 0)])
def test_program_that_ended_well_is_not_told(told: Told, ending: Ending | None) -> None:
    assert "How it ended" not in render(replace(told("flat"), ending=ending))


@pytest.mark.parametrize(
    ("cost", "sentence"),
    [
        (Overhead(26, 0.004, 0, 0.0), "Overhead: 4 ms sampling in 42.0 s."),
        (
            Overhead(26, 0.004, 1, 0.2),
            ("Overhead: 4 ms sampling in 42.0 s; 1 garbage collection (200 ms) to find the cause."),
        ),
        (
            Overhead(26, 0.004, 4, 0.8, censuses=2, census_s=0.4, process_s=9.2),
            (
                "Overhead: 4 ms sampling in 42.0 s; 4 garbage collections (800 ms) and "
                "2 heap scans (400 ms) to find the cause, 13 % of the run's processor time."
            ),
        ),
    ],
)
def test_our_own_cost_is_told(told: Told, cost: Overhead, sentence: str) -> None:
    screen = render(replace(told("flat"), overhead=cost), verbose=True)

    assert sentence in " ".join(screen.split())


def test_first_screen_has_our_own_cost_on_one_line(told: Told) -> None:
    cost = Overhead(26, 0.004, 4, 0.8, censuses=2, census_s=0.4, process_s=9.2)

    lines = render(replace(told("leak-with-a-finding"), overhead=cost)).splitlines()

    assert "Overhead: 1.2 s in 42.0 s (13 % of CPU time). For more details, add -v." in lines


def test_memory_that_ran_out_without_a_leak_is_explained(told: Told) -> None:
    ran_out = Ending(5, None, signal=9, out_of_memory=True)

    assert "ran out of memory without a leak" in render(replace(told("flat"), ending=ran_out))
    assert "without a leak" not in render(replace(told("leak"), ending=ran_out))
    assert "without a leak" not in render(replace(told("inconclusive"), ending=ran_out))


def test_reserved_device_memory_is_not_trimmed_with_malloc(told: Told) -> None:
    reserved = told("reserved")
    on_device = replace(reserved, verdict=replace(reserved.verdict, place="GPU:0"))

    screen = render(on_device)

    assert "(GPU:0 memory, 12 epochs seen)" in screen
    assert "set_memory_growth(gpu, True)" in screen
    assert "heap_trim" not in screen


@pytest.mark.parametrize(
    ("name", "many"),
    [
        ("epoch", "12 epochs"),
        ("batch", "12 batches"),
        ("fit call", "12 fit calls"),
        ("query", "12 queries"),
        ("day", "12 days"),
    ],
)
def test_units_have_english_plurals(told: Told, name: str, many: str) -> None:
    flat = told("flat")

    assert f"{many} seen" in render(
        replace(flat, verdict=replace(flat.verdict, unit=Unit(0, name)))
    )


def test_ascii_terminal_gets_plain_characters(told: Told) -> None:
    screen = for_encoding(render(told("leak-in-a-loop-of-models"), verbose=True), "ascii")

    assert screen.isascii()
    assert "?" not in screen
    assert "24 -> 288" in screen
    assert "145.0 MiB  _..-==++*%%#" in screen


def test_ascii_terminal_gets_the_whole_trace(told: Told) -> None:
    screen = for_encoding(render(told("leak-with-a-finding")), "ascii")

    assert "?" not in screen
    assert (
        "  +- SavePredictions                 train.py:6\n"
        "  |    needed: callback of the running fit\n"
        "  |   ~~~~~\n"
        "  +- .saved: list, 12 items (+1 per epoch)\n"
        "  |    leaked: grew in every epoch\n"
        "  +-> ndarray float32 (4096, 256)  4.0 MiB x 12\n"
    ) in screen


def test_text_that_fits_the_encoding_is_left_alone() -> None:
    assert for_encoding("▁█ → é", "utf-8") == "▁█ → é"
    assert for_encoding("é", "latin-1") == "é"


def test_what_no_encoding_can_say_becomes_a_question_mark() -> None:
    assert for_encoding("caf\udce9", "utf-8") == "caf?"
    assert for_encoding("▁é", "no-such-encoding") == "_?"


def test_importing_the_report_does_not_import_rich() -> None:
    code = (
        "import sys, lowwater.report.text, lowwater.report.live, lowwater.report.json;"
        "sys.exit('rich' in sys.modules)"
    )

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_repairs_of_libraries_are_told_with_what_became_of_them(told: Told) -> None:
    applied = Mending("LW205", "gradient-registry", "TensorFlow", MendState.APPLIED, "2.21.0")
    waiting = replace(applied, state=MendState.WAITING, because="not imported yet")
    mended = (replace(applied, because="TensorFlow 2.21.0"), waiting)

    screen = render(replace(told("flat"), mended=mended))

    assert (
        "Library repairs\n"
        "  Mended: LW205 gradient registry (TensorFlow 2.21.0)\n"
        "  Waiting: LW205 gradient registry (not imported yet)\n"
    ) in screen
    assert "Repairs" not in render(told("flat"))
