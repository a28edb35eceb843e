"""Whether the batch that the user needs fits is known, tried, or said to be unknown."""

import pytest

from footprints import MIB, a_footprint, a_line, a_step
from lowwater.model import NotMeasured
from lowwater.model.footprint import TensorLimit
from lowwater.sizing.largest import largest_below
from lowwater.sizing.need import need_of

LIMIT = TensorLimit(1000 * MIB, "given", is_given=True)


def asked(wanted, *, fits=lambda batch: a_line(batch) <= 1000, can_try=True):
    tried = []

    def attempt(batch_size):
        tried.append(batch_size)
        return a_step(batch_size, a_line(batch_size)) if fits(batch_size) else None

    footprint = a_footprint()
    largest = largest_below(footprint, LIMIT, attempt if can_try else None, None, wanted)
    return need_of(wanted, largest, footprint), tried, largest


@pytest.mark.parametrize("batch_size", [1, 100, 400])
def test_batch_below_the_largest_fits_without_a_try(batch_size):
    need, tried, _ = asked(batch_size)

    assert need.fits
    assert batch_size not in tried


def test_batch_above_one_that_did_not_fit_does_not_fit_either():
    need, tried, largest = asked(600)

    assert need.fits is False
    assert 600 not in tried
    assert need.because == (
        f"a batch of 600 does not fit 1000.0 MiB: the largest that does is {int(largest)}"
    )


@pytest.mark.parametrize("does_fit", [True, False])
def test_batch_between_the_two_is_tried(does_fit):
    """The search ends when they are close: what lies between may fit."""
    _, before, largest = asked(1)
    between = int(largest) + 1
    assert between < largest.too_large
    assert between not in before

    need, tried, larger = asked(between, fits=lambda batch: batch < between + does_fit)

    assert tried[-1] == between
    assert need.fits is does_fit
    assert larger == (between if does_fit else largest)


def test_model_that_stays_in_its_process_has_batches_of_which_it_is_not_known():
    unknown, beyond = asked(482, can_try=False)[0], asked(10_000_000, can_try=False)[0]

    assert unknown.fits is None
    assert unknown.because == "it is not known if a batch of 482 fits 1000.0 MiB: it was not tried"
    assert beyond.fits is False


def test_without_a_limit_nothing_is_known():
    need = need_of(64, NotMeasured("there is no limit"), a_footprint())

    assert (need.fits, need.because) == (None, "there is no limit")
