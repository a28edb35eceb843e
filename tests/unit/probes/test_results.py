"""What isolated calls have sent back is in use, for as long as it lives."""

import numpy as np

from lowwater.model.gauges import HEAP_USED, RESULTS_MAPPED, in_use_bytes
from lowwater.probes.results import ResultsProbe


def mapped():
    return ResultsProbe().read().gauges[RESULTS_MAPPED]


def test_array_counts_until_it_dies():
    import lowwater

    large = lowwater.isolated(lambda: np.ones(1 << 20))
    before = mapped()

    array = large()
    alive = mapped()
    del array

    assert alive - before >= 8 << 20
    assert mapped() <= before


def test_program_that_never_isolated_anything_has_nothing_to_tell(monkeypatch):
    import sys

    monkeypatch.delitem(sys.modules, "lowwater.isolation.parcel", raising=False)

    assert ResultsProbe().read().gauges == {}


def test_results_are_part_of_what_is_in_use():
    assert in_use_bytes({HEAP_USED: 100, RESULTS_MAPPED: 50}) == 150
