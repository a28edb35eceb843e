from lowwater.causes.catalogue import find_causes
from lowwater.model import Kind, tallies
from lowwater.testing import a_tally, an_evidence


def a_shuffle(each=0):
    return a_tally(tallies.DATASETS, "_ShuffleDataset", each=each, where="train.py:12")


def test_buffer_that_has_filled_explains_the_verdict():
    [finding] = find_causes(an_evidence(a_shuffle(), kind=Kind.WARM_UP))

    assert finding.code == "LW302"
    assert finding.message == ("The `shuffle()` buffer filled once and no longer grows.")
    assert finding.where == "train.py:12"


def test_new_buffer_in_every_round_is_found():
    [finding] = find_causes(an_evidence(a_shuffle(each=1)))

    assert (
        finding.message
        == "The number of live shuffle buffers grows: one shuffled data set every epoch."
    )


def test_buffer_is_not_blamed_for_a_leak_elsewhere():
    assert [found.code for found in find_causes(an_evidence(a_shuffle()))] == ["LW404"]
