"""What is said of each way, told with peaks that are made up; the real ones are in integration."""

from dataclasses import replace

import pytest

from lowwater.errors import ChildDied
from lowwater.model.footprint import StepPeak
from lowwater.sizing import what_helps
from lowwater.sizing.remedies import WAYS, DoesNotApply
from lowwater.sizing.remedies.compiled_by_xla import CompiledByXla
from lowwater.sizing.remedies.gradient_accumulation import GradientAccumulation
from lowwater.sizing.remedies.mixed_precision import MixedPrecision
from lowwater.sizing.remedies.plain_sgd import PlainSGD
from lowwater.sizing.samples import samples_of
from lowwater.sizing.subject import Subject
from lowwater.sizing.what_helps import Wanted, remedies_for

MIB = 1 << 20
WANTED = Wanted(batch_size=64, fits=40, limit_bytes=100 * MIB, free_bytes=1000 * MIB)
SUBJECT = Subject(None, samples_of([1.0, 2.0]))


@pytest.fixture
def steps(monkeypatch):
    """What each way takes, in MiB, or what it raises; None is the model as it is."""
    told = {}

    def step(subject, wanted, way, batch_size):
        answer = told[None if way is None else type(way)]
        if isinstance(answer, Exception):
            raise answer
        if answer is None:
            return None
        return StepPeak(batch_size, (answer * MIB,), 0.5), "nothing"

    monkeypatch.setattr(what_helps, "_step", step)
    return told


def of(name, rows):
    [found] = [row for row in rows if row.name.startswith(name)]
    return found


def test_what_fits_comes_before_what_only_saves(steps):
    steps |= {None: 150, PlainSGD: 120, MixedPrecision: 90}

    rows = remedies_for(SUBJECT, WANTED, (PlainSGD(), MixedPrecision()))

    assert [row.name for row in rows] == ["as it is", "mixed precision", "SGD"]
    assert [row.because for row in rows] == ["does not fit", "fits", "does not fit"]


def test_a_way_that_saves_less_than_the_noise_is_no_remedy(steps):
    steps |= {None: 150, PlainSGD: 146}

    row = of("SGD", remedies_for(SUBJECT, WANTED, (PlainSGD(),)))

    assert row.because == "saves nothing here"
    assert row.saves_nothing


def test_a_way_that_needs_more_says_how_much(steps):
    steps |= {None: 150, CompiledByXla: 250}

    row = of("jit_compile", remedies_for(SUBJECT, WANTED, (CompiledByXla(),)))

    assert row.because == "takes 100.0 MiB more here"
    assert not row.fits


def test_one_that_fails_says_why_and_the_others_go_on(steps):
    steps |= {
        None: 150,
        PlainSGD: ValueError("shapes do not agree\nand more"),
        MixedPrecision: DoesNotApply("no layer computes with 32 bits"),
        CompiledByXla: 90,
    }

    rows = remedies_for(SUBJECT, WANTED, (PlainSGD(), MixedPrecision(), CompiledByXla()))

    assert of("SGD", rows).because == "fails: ValueError: shapes do not agree"
    assert of("mixed", rows).because == "does not apply: no layer computes with 32 bits"
    assert of("jit_compile", rows).because == "fits"
    assert of("SGD", rows).peak_bytes is None


def test_what_this_machine_cannot_hold_is_no_answer_about_the_limit(steps):
    steps |= {None: None, PlainSGD: ChildDied("killed")}
    small = replace(WANTED, free_bytes=50 * MIB)

    rows = remedies_for(SUBJECT, small, (PlainSGD(),))

    told = {row.because for row in rows}
    assert told == {"not measured: needs more than this machine has free"}
    assert {row.fits for row in rows} == {None}


def test_the_time_is_that_of_the_whole_batch(steps):
    steps |= {None: 150, GradientAccumulation: 60}

    row = of("gradient", remedies_for(SUBJECT, WANTED, (GradientAccumulation(),)))

    assert row.name == "gradient accumulation, 2 x 32"
    assert row.step_s == 1.0


@pytest.mark.parametrize(
    ("batch_size", "fits", "steps_per_batch"),
    [(64, 40, 2), (64, 31, 4), (64, 5, 16), (60, 25, 3), (7, 1, 7), (64, None, 2)],
)
def test_a_batch_is_divided_into_as_few_equal_parts_as_fit(batch_size, fits, steps_per_batch):
    way = GradientAccumulation().for_batch(batch_size, fits)

    assert way.steps_per_batch == steps_per_batch


def test_every_way_says_what_it_changes_and_what_to_type():
    for way in WAYS:
        assert way.how
        assert way.changes("CPU:0")
        assert way.changes("GPU:0")
