from lowwater.causes.catalogue import find_causes
from lowwater.testing import a_holder, a_module, a_step, an_array, an_evidence


def test_lru_cache_with_ever_new_arguments_is_found():
    held = a_holder(
        a_module(),
        a_step(
            ".load_batch", "functools._lru_cache_wrapper", about="load_batch", where="train.py:8"
        ),
        a_step(".cache", "dict"),
        a_step("[*]", "tuple"),
        an_array("[0]"),
        grows=".cache",
        items=12,
    )

    [finding] = find_causes(an_evidence(held))

    assert finding.code == "LW107"
    assert finding.message == (
        "The cache of `load_batch` grows by 12 entries every epoch: its arguments never repeat."
    )
    assert finding.where == "train.py:8"
    assert finding.holder == "load_batch.cache"


def test_dict_that_is_filled_like_a_memo_is_found():
    held = a_holder(
        a_module(),
        a_step(".features", "dict"),
        an_array(),
        grows=".features",
        added_at="train.py:11",
        is_memo=True,
    )

    [finding] = find_causes(an_evidence(held))

    assert finding.code == "LW107"
    assert finding.message == (
        "The memo `features` grows by one entry every epoch: its keys never repeat."
    )
    assert finding.where == "train.py:11"


def test_dict_that_is_filled_without_asking_is_a_container():
    held = a_holder(
        a_module(),
        a_step(".results", "dict"),
        an_array(),
        grows=".results",
        added_at="train.py:11",
    )

    [finding] = find_causes(an_evidence(held))

    assert finding.code == "LW102"
    assert finding.fix == (
        "Delete entries that you no longer need, or keep a number per key instead of the data."
    )
