"""What one run of an experiment has measured."""

from dataclasses import replace

import pytest

from lowwater.diagnose.compare import compare
from lowwater.diagnose.measure import how_it_failed, measured_in
from lowwater.model import Diagnosis, Ending, Kind, Ledger, LedgerRow, Note, Topic, Unit, Verdict
from lowwater.model.experiment import Difference, Effect, Measured

EPOCH = Unit(0, "epoch", "train.py:9")
LEAK = Verdict(Kind.LEAK, "it grows", EPOCH, 12, 4000, (3900, 4100))
HOLES = Verdict(Kind.FRAGMENTED, "holes", EPOCH, 12, 10, (5, 15))
NOT_MADE = Note(1.0, "fit has no source", Topic.NOT_MADE)
FLAT = Verdict(Kind.FLAT, "it is level", EPOCH, 12, 10, (5, 15))


def a_run(verdict, *, resident=(), notes=(), exit_code=0):
    ledger = Ledger((LedgerRow("system", "resident, anonymous", tuple(resident)),))
    return Diagnosis(
        verdict=verdict,
        units=(verdict,),
        findings=(),
        ledger=ledger,
        of_experiment=tuple(notes),
        environment={},
        ending=Ending(3.0, exit_code, None, False, 0),
    )


@pytest.mark.parametrize(
    ("ending", "told"),
    [
        (Ending(3.0, None, 9, out_of_memory=True), "killed: out of memory"),
        (Ending(3.0, None, 11), "ended by signal 11"),
        (
            Ending(3.0, 1, out_of_memory=True, error="MemoryError"),
            "ran out of memory, exit code 1",
        ),
        (Ending(3.0, 0, out_of_memory=True), "ran out of memory"),
        (Ending(3.0, 1), "exit code 1"),
        (Ending(3.0, 0), ""),
    ],
)
def test_only_a_signal_kills_a_program(ending, told):
    assert how_it_failed(ending) == told


def test_growth_is_that_of_the_verdict():
    found = measured_in(a_run(LEAK), None)

    assert (found.growth_bytes, found.interval_bytes, found.rounds) == (4000, (3900, 4100), 12)
    assert found.leaks
    assert found.grows


def test_changed_run_that_is_level_after_a_jump_does_not_grow():
    base = measured_in(a_run(LEAK), None)
    jumped = Verdict(Kind.WARM_UP, "level since epoch 4", EPOCH, 12, 3900, (3000, 4200))

    assert measured_in(a_run(jumped), base).growth_bytes == 0
    assert measured_in(a_run(jumped), None).growth_bytes == 3900


def test_holes_are_measured_by_what_is_resident_after_warm_up():
    resident = [0, 900, 1000, 1000, 1000, 1100, 1200, 1300, 1400, 1500, 1600, 1700, 1800]

    found = measured_in(a_run(HOLES, resident=resident), None)

    assert found.growth_bytes == 100
    assert found.interval_bytes == (100, 100)
    assert found.grows
    assert not found.leaks


def test_change_of_a_run_with_holes_is_measured_alike_though_it_has_none():
    base = Measured(Kind.FRAGMENTED, "epoch", "train.py:9", 12, 100, (90, 110))

    found = measured_in(a_run(FLAT, resident=[700] * 13), base)

    assert (found.kind, found.growth_bytes) == (Kind.FLAT, 0)


def test_holes_in_too_few_rounds_are_not_measured():
    found = measured_in(a_run(HOLES, resident=[1, 2, 3]), None)

    assert found.growth_bytes is None
    assert not found.grows


def test_only_the_unit_of_the_first_run_is_compared():
    base = Measured(Kind.LEAK, "iteration", "train.py:3", 12, 100, (90, 110))

    assert measured_in(a_run(LEAK), base).kind is Kind.INCONCLUSIVE


def test_run_that_ended_before_it_told_anything_has_a_problem():
    nothing = replace(LEAK, kind=Kind.INCONCLUSIVE)

    assert measured_in(a_run(nothing, exit_code=1), None).problem == "exit code 1"
    assert measured_in(a_run(LEAK, exit_code=1), None).problem == ""


def test_problem_is_told_in_the_last_words_of_the_program():
    nothing = replace(LEAK, kind=Kind.INCONCLUSIVE)

    found = measured_in(a_run(nothing, exit_code=1), None, "KeyError: 'loss'")

    assert found.problem == "KeyError: 'loss' (exit code 1)"


def test_change_with_which_the_program_fails_early_proves_nothing():
    base = Measured(Kind.LEAK, "epoch", "train.py:9", 12, 4000, (3900, 4100))
    early = replace(FLAT, units_seen=5)

    assert measured_in(a_run(early, exit_code=1), base).problem == "exit code 1"
    assert measured_in(a_run(FLAT, exit_code=1), base).problem == ""


def test_change_that_could_not_be_made_tests_nothing_and_is_no_failure_of_the_program():
    base = measured_in(a_run(LEAK), None)
    changed = measured_in(a_run(FLAT, notes=[NOT_MADE]), base)

    assert changed.problem == ""
    assert compare(base, changed) == Difference(Effect.UNTESTED, because="fit has no source")


def test_program_as_it_is_has_no_problem_with_a_change_that_was_not_asked_for():
    run = a_run(LEAK, notes=[NOT_MADE])

    assert measured_in(run, None).not_made == ""


def test_change_that_was_made_in_part_counts_only_where_it_makes_a_difference():
    base = measured_in(a_run(LEAK), None)
    why = "train.py:31 adds to nothing that can be shortened"
    notes = [Note(1.0, why, Topic.MADE_IN_PART)]

    in_vain = compare(base, measured_in(a_run(LEAK, notes=notes), base))
    stopped = compare(base, measured_in(a_run(FLAT, notes=notes), base))

    assert (in_vain.effect, in_vain.because) == (Effect.UNCLEAR, why)
    assert stopped.effect is Effect.STOPS


def test_run_that_was_ended_by_us_is_no_failure_of_the_program():
    early = Verdict(Kind.INCONCLUSIVE, "too short", EPOCH, 2)
    ended = Note(3.0, "after 3 s", Topic.ENDED_BY_US)

    found = measured_in(a_run(early, exit_code=1, notes=[ended]), None)

    assert found.problem == "the run was ended after 3 s"
    assert not found.fails
    assert measured_in(a_run(early, exit_code=1), None).fails
