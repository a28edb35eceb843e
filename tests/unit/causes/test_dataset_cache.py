import pytest

from lowwater.causes.catalogue import find_causes
from lowwater.model import Kind, tallies
from lowwater.testing import a_holder, a_module, a_step, a_tally, an_evidence


def a_cache(about="", each=0, name="CacheDataset"):
    return a_tally(tallies.DATASETS, name, each=each, where="train.py:12", about=about)


def test_cache_behind_repeat_is_found():
    [finding] = find_causes(an_evidence(a_cache("endless", name="_CacheDataset")))

    assert finding.code == "LW301"
    assert finding.message == (
        "`cache()` comes after `repeat()`: its input never ends, so it keeps filling."
    )
    assert finding.where == "train.py:12"
    assert finding.fix == "Put `cache()` before `repeat()` and before random augmentation."


def test_new_cache_in_every_epoch_is_found():
    [finding] = find_causes(an_evidence(a_cache(each=1)))

    assert finding.message == "The number of live caches grows: one cached data set every epoch."
    assert finding.fix == "Build the pipeline once, before the loop, and iterate over it again."


@pytest.mark.parametrize("kind", [Kind.CACHE, Kind.WARM_UP])
def test_cache_that_has_filled_explains_the_verdict(kind):
    [finding] = find_causes(an_evidence(a_cache(), kind=kind))

    assert finding.code == "LW301"
    assert finding.message == ("`cache()` filled once with the data set and no longer grows.")
    assert finding.share is None


def test_cache_in_a_file_is_innocent():
    assert not find_causes(an_evidence(a_cache("in a file"), kind=Kind.CACHE))
    leak = an_evidence(a_cache("endless, in a file"))
    assert [found.code for found in find_causes(leak)] == ["LW404"]


def test_cache_that_is_there_and_ends_is_not_blamed_for_a_leak():
    assert [found.code for found in find_causes(an_evidence(a_cache()))] == ["LW404"]


@pytest.mark.parametrize(
    ("kind", "codes"),
    [(Kind.FRAGMENTED, ["LW402", "LW301"]), (Kind.RESERVED, ["LW401", "LW301"])],
)
def test_cache_is_told_whatever_malloc_does_with_freed_memory(kind, codes):
    found = find_causes(an_evidence(a_cache(), kind=kind))

    assert [finding.code for finding in found] == codes


def test_level_memory_needs_no_explanation():
    assert not find_causes(an_evidence(a_cache(), kind=Kind.FLAT))


def test_calls_of_cache_tell_the_line_where_data_sets_were_not_counted():
    called = a_tally(tallies.CALLS, "cache", each=0, where="train.py:12")

    [finding] = find_causes(an_evidence(called, kind=Kind.CACHE))

    assert (finding.code, finding.where) == ("LW301", "train.py:12")


BATCHED = "tensorflow.python.data.ops.batch_op._BatchDataset"
DATASET = "tensorflow.python.data.ops.dataset_ops.DatasetV2"


def kept_data_sets():
    return a_holder(
        a_module(),
        a_step(".kept", "list"),
        a_step("[*]", BATCHED, DATASET),
        grows=".kept",
        mib=0.001,
        added_at="train.py:14",
    )


def test_cached_data_sets_that_the_program_keeps_are_found_where_it_keeps_them():
    [finding] = find_causes(an_evidence(kept_data_sets(), a_cache(each=1), mib=4))

    assert finding.code == "LW301"
    assert finding.message == (
        "`kept` grows by one cached data set every epoch, and each cache keeps its elements in "
        "memory."
    )
    assert (finding.where, finding.holder, finding.share) == ("train.py:14", "kept", 1.0)
    assert finding.fix.endswith("a cache lives as long as any data set that reads from it.")


@pytest.mark.parametrize("cache", [a_cache(), a_cache("in a file", each=1), a_cache(each=0.3)])
def test_data_sets_that_are_kept_without_caches_are_a_growing_container(cache):
    [finding] = find_causes(an_evidence(kept_data_sets(), cache, mib=4))

    assert (finding.code, finding.where) == ("LW102", "train.py:14")
