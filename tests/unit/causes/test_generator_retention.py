from lowwater.causes import find_causes
from lowwater.testing import a_holder, a_module, a_running_call, a_step, an_array, an_evidence

SEQUENCE = "keras.src.trainers.data_adapters.py_dataset_adapter.PyDataset"


def test_data_set_that_keeps_its_batches_is_found():
    held = a_holder(
        a_running_call(),
        a_step("local x", "__main__.Batches", SEQUENCE, where="train.py:5"),
        a_step(".served", "list"),
        an_array(),
        grows=".served",
        items=100,
        added_at="train.py:15",
        is_users=False,
    )

    [finding] = find_causes(an_evidence(held))

    assert finding.code == "LW303"
    assert finding.message == (
        "`Batches.served` grows by 100 float32 arrays (4096, 256) every epoch."
    )
    assert finding.where == "train.py:15"


def test_generator_that_keeps_its_batches_is_found():
    held = a_holder(
        a_running_call(),
        a_step("local x", "generator", where="train.py:5"),
        a_step("local served", "list"),
        an_array(),
        grows="local served",
        is_users=False,
    )

    [finding] = find_causes(an_evidence(held))

    assert finding.code == "LW303"
    assert finding.holder == "generator.served"
    assert finding.where == "train.py:5"


def test_list_outside_of_the_generator_is_a_container():
    held = a_holder(a_module(), a_step(".served", "list"), an_array(), grows=".served")

    assert [found.code for found in find_causes(an_evidence(held))] == ["LW102"]
