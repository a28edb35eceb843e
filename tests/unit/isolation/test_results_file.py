"""Results that were written are found again, whatever becomes of the disk."""

import resource
from contextlib import contextmanager

import pytest

from lowwater.isolation.limits import Limits
from lowwater.isolation.outcome import TrialOutcome
from lowwater.isolation.results_file import ResultsFile
from lowwater.isolation.trial import Trial

TRIALS = [Trial(abs, (number,), {}, Limits()) for number in range(3)]


@contextmanager
def room_for(more_bytes, path):
    """As on a full disk: half a result finds room, and the rest does not."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + more_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_result_that_finds_no_room_is_told_and_costs_no_other(tmp_path):
    path = tmp_path / "scores.lw"

    with ResultsFile(path, abs) as kept:
        kept.known(TRIALS)
        kept.add(0, TrialOutcome("first"))
        with (
            room_for(10, path),
            pytest.warns(UserWarning, match="Cannot write a result to .*scores"),
        ):
            kept.add(1, TrialOutcome("second"))
        kept.add(2, TrialOutcome("third"))

    with ResultsFile(path, abs) as kept:
        found = kept.known(TRIALS)
    assert {number: one.value for number, one in found.items()} == {0: "first", 2: "third"}
