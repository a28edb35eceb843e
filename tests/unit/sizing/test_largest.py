"""The search for the largest batch, against models whose truth is known."""

import pickle

import pytest

from footprints import FIXED, MIB, a_footprint, a_line, a_step
from lowwater.errors import UsageError
from lowwater.model.footprint import Fixed, StepPeak, StepsFound, TensorLimit
from lowwater.model.step_trace import StepTrace
from lowwater.sizing.found import footprint_of
from lowwater.sizing.largest import LargestBatch, largest_below


class Machine:
    """Makes steps of a model under a limit, and counts them."""

    def __init__(self, peak_mib, limit_mib):
        self.peak_mib, self.limit_mib = peak_mib, limit_mib
        self.tried = []

    def __call__(self, batch_size):
        self.tried.append(batch_size)
        peak = self.peak_mib(batch_size)
        return a_step(batch_size, peak) if peak <= self.limit_mib else None


def search(limit_mib, *, really=a_line, said=a_line, free_mib=None):
    machine = Machine(really, limit_mib)
    limit = TensorLimit(limit_mib * MIB, "given", is_given=True)
    free_bytes = None if free_mib is None else free_mib * MIB
    return largest_below(a_footprint(said), limit, machine, free_bytes), machine


@pytest.mark.parametrize("limit_mib", [40, 64, 200, 1000, 8192])
@pytest.mark.parametrize("off", [0.7, 0.85, 0.97, 1.0, 1.04, 1.15, 1.4])
def test_answer_is_within_five_percent_and_never_above(limit_mib, off):
    found, machine = search(limit_mib, really=lambda batch: 35 + 2 * off * batch)
    truth = int((limit_mib - 35) / (2 * off))

    assert 0.95 * truth - 1 <= found <= truth
    assert found.is_confirmed
    assert len(machine.tried) <= 10


def test_line_that_is_right_costs_two_tries():
    found, machine = search(1000)

    assert (int(found), len(machine.tried)) == (482, 2)


def test_model_without_a_line_is_searched_by_real_steps():
    found, _ = search(1000, really=lambda n: 30 + n**2 / 64, said=lambda n: 30 + n**2 / 64)

    assert 0.94 * 249 <= found <= 249
    assert found.is_confirmed


def test_result_is_a_number_that_fit_takes():
    found, _ = search(1000)

    assert isinstance(found, int)
    assert found + 1 == 483
    assert f"{found}" == "482"
    assert repr(found) == (
        "482 (largest that fits 1000.0 MiB, confirmed by real steps; 501 did not fit)"
    )
    assert found.peak_bytes == a_line(482) * MIB


def test_result_survives_the_way_to_another_process():
    found, _ = search(1000)
    copy = pickle.loads(pickle.dumps(found))

    assert isinstance(copy, LargestBatch)
    assert (repr(copy), copy.is_confirmed) == (repr(found), True)


def test_limit_below_the_weights_is_one_sentence():
    with pytest.raises(UsageError) as refused:
        search(29)

    assert str(refused.value) == (
        "the limit is less than the weights and the optimizer take, 30.0 MiB "
        "(received: limit 29.0 MiB). Try: a larger limit, or a smaller model"
    )


def test_limit_that_one_sample_does_not_fit_is_refused_by_a_real_step():
    with pytest.raises(UsageError, match="not even a batch of 1 fits"):
        search(36)


def test_step_that_this_machine_cannot_hold_is_not_started():
    found, machine = search(1000, free_mib=500)

    assert machine.tried == []
    assert not found.is_confirmed
    assert found.because == "not confirmed: this machine has only 500.0 MiB free"
    # Nobody has tried it, so the whole interval is below the limit.
    assert 0.8 * 482 < found < 482


def test_model_that_stays_in_its_process_is_not_confirmed():
    limit = TensorLimit(1000 * MIB, "given", is_given=True)

    found = largest_below(a_footprint(), limit, None, None)

    assert not found.is_confirmed
    assert "cannot be sent" in found.because
    assert found < 482


def test_small_batches_are_found_to_the_last_sample():
    def heavy(batch_size):
        return 35 + 100 * batch_size

    found, _ = search(35 + 100 * 9 + 50, really=heavy, said=heavy)

    assert found == 9


def test_model_that_takes_nothing_for_its_batch_ends_too():
    found, machine = search(1000, really=lambda _: 40.0, said=lambda _: 40.0)

    assert found.is_confirmed
    assert len(machine.tried) <= 10


def test_fixed_without_optimizer_is_no_reason_to_refuse():
    found = largest_below(
        a_footprint(lambda n: 2 * n, fixed=Fixed(0, 0, 0)),
        TensorLimit(100 * MIB, "given", is_given=True),
        Machine(lambda n: 2 * n, 100),
        None,
    )

    assert 47 <= found <= 50


def test_batch_that_needs_more_than_the_limit_is_not_tried():
    """What tensors ask for is known to the byte here: 35 MiB, and 2 MiB for each sample."""

    def watched(batch):
        trace = StepTrace(35 * MIB, (("activations", 2 * MIB * batch),))
        return StepPeak(batch, (trace.needed_bytes,), 0.01, traces=(trace,))

    tried = []

    def attempt(batch):
        tried.append(batch)
        return watched(batch) if a_line(batch) <= 1004 else None

    seen = StepsFound("CPU:0", FIXED, tuple(map(watched, (32, 64, 128, 256))))
    limit = TensorLimit(1000 * MIB, "given", is_given=True)
    answer = largest_below(footprint_of(seen, 64), limit, attempt, None)

    assert max(tried) == answer
    # 482 would be the largest, and needs all of the limit.
    assert 0.95 * 482 <= answer <= 482
