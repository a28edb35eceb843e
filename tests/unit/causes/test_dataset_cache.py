import pytest

from lowwater import tallies
from lowwater.causes import find_causes
from lowwater.model import Kind
from lowwater.testing import a_tally, an_evidence


def a_cache(about="", each=0, name="CacheDataset"):
    return a_tally(tallies.DATASETS, name, each=each, where="train.py:12", about=about)


def test_cache_behind_repeat_is_found():
    [finding] = find_causes(an_evidence(a_cache("endless", name="_CacheDataset")))

    assert finding.code == "LW301"
    assert finding.message == (
        "`cache()` stands behind `repeat()`: its input never ends, so it fills on."
    )
    assert finding.where == "train.py:12"
    assert finding.fix == "Put `cache()` before `repeat()` and before random augmentation."


def test_new_cache_in_every_epoch_is_found():
    [finding] = find_causes(an_evidence(a_cache(each=1)))

    assert finding.message == "Ever more caches are alive: one cached data set every epoch."
    assert finding.fix == "Build the pipeline once, before the loop, and iterate over it again."


@pytest.mark.parametrize("kind", [Kind.CACHE, Kind.WARM_UP])
def test_cache_that_has_filled_explains_the_verdict(kind):
    [finding] = find_causes(an_evidence(a_cache(), kind=kind))

    assert finding.code == "LW301"
    assert finding.message == (
        "`cache()` has filled with the data set, once; from then on memory is level."
    )
    assert finding.share is None


def test_cache_in_a_file_is_innocent():
    assert not find_causes(an_evidence(a_cache("in a file"), kind=Kind.CACHE))
    leak = an_evidence(a_cache("endless, in a file"))
    assert [found.code for found in find_causes(leak)] == ["LW404"]


def test_cache_that_is_there_and_ends_is_not_blamed_for_a_leak():
    assert [found.code for found in find_causes(an_evidence(a_cache()))] == ["LW404"]


def test_level_memory_needs_no_explanation():
    assert not find_causes(an_evidence(a_cache(), kind=Kind.FLAT))


def test_calls_of_cache_tell_the_line_where_data_sets_were_not_counted():
    called = a_tally(tallies.CALLS, "cache", each=0, where="train.py:12")

    [finding] = find_causes(an_evidence(called, kind=Kind.CACHE))

    assert (finding.code, finding.where) == ("LW301", "train.py:12")
