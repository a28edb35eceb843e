"""The plan of a compiled program. FAKE: no JAX here; the fields are those of its analysis."""

import time
from types import SimpleNamespace

from lowwater.sizing.backends import _program
from lowwater.sizing.backends._program import planned_bytes, run

ANALYSIS = SimpleNamespace(
    argument_size_in_bytes=4_800_688,
    output_size_in_bytes=4_792_680,
    alias_size_in_bytes=4_792_464,
    temp_size_in_bytes=1_591_376,
    peak_memory_in_bytes=4_800_916,
)
PROGRAM = SimpleNamespace(memory_analysis=lambda: ANALYSIS)


def test_result_in_the_place_of_an_argument_counts_once():
    assert planned_bytes(ANALYSIS) == 4_800_688 + (4_792_680 - 4_792_464) + 1_591_376


def test_what_malloc_hands_out_beside_the_plan_counts():
    def step():
        held = bytearray(40_000_000)
        time.sleep(0.05)  # as a compiled program does, it leaves Python to the thread that looks
        del held

    made = run(PROGRAM, step, is_watched=True)

    assert max(made.peaks_bytes) >= 4_800_688 + 40_000_000
    assert max(made.peaks_bytes) < 4_800_688 + 60_000_000


def test_quick_step_takes_no_less_than_its_plan():
    made = run(PROGRAM, lambda: None, is_watched=True)

    assert min(made.peaks_bytes) >= planned_bytes(ANALYSIS)


def test_step_that_the_machine_could_not_hold_is_not_made(monkeypatch):
    monkeypatch.setattr(_program, "headroom", lambda: 1_000_000)
    calls = []

    made = run(PROGRAM, lambda: calls.append(1), is_watched=True)

    assert not calls
    assert made.peaks_bytes == (planned_bytes(ANALYSIS),)


def test_on_a_device_the_plan_is_all():
    made = run(PROGRAM, lambda: bytearray(40_000_000), is_watched=False)

    assert {*made.peaks_bytes} == {planned_bytes(ANALYSIS)}


def test_each_step_has_its_arguments_made_before_it():
    order = []

    run(
        PROGRAM, lambda: order.append("step"), is_watched=False, before=lambda: order.append("made")
    )

    assert order[:4] == ["made", "step", "made", "step"]
