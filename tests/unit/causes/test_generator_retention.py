from dataclasses import replace

from lowwater.causes.catalogue import find_causes
from lowwater.testing import (
    a_holder,
    a_model,
    a_module,
    a_running_call,
    a_step,
    an_array,
    an_evidence,
)

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


def test_generator_that_was_at_work_on_a_thread_of_the_library_is_found():
    """Threads that fetch batches ahead do not wait for us to look."""
    held = a_holder(
        a_step("", "frame", "frame", "generator", where="train.py:9"),
        a_step("local window", "list"),
        an_array(),
        grows="local window",
        added_at="train.py:9",
    )

    [finding] = find_causes(an_evidence(held))

    assert (finding.code, finding.where, finding.holder) == ("LW303", "train.py:9", "window")


def a_list_filled_by(function, *items, keeps_batches=True):
    held = a_holder(
        a_module(), a_step(".seen", "list"), *items, grows=".seen", items=8, added_at="train.py:9"
    )
    site = replace(held.sites[0], in_function=function, keeps_batches=keeps_batches)
    return replace(held, sites=(site,))


def test_generator_that_keeps_its_batches_in_a_list_of_the_program_is_found():
    held = a_list_filled_by("make.<locals>.batches", a_step("[*]", "tuple"), an_array("[0]"))

    [finding] = find_causes(an_evidence(held))

    assert finding.code == "LW303"
    assert finding.message == (
        "`seen` grows by 8 tuples every epoch; most of each is a float32 array (4096, 256). "
        "`batches` keeps every batch that it yields."
    )
    assert (finding.where, finding.holder) == ("train.py:9", "seen")


def test_generator_that_keeps_something_else_is_not_blamed_for_its_batches():
    held = a_list_filled_by("batches", an_array(), keeps_batches=False)

    assert [found.code for found in find_causes(an_evidence(held))] == ["LW102"]


def test_models_that_a_generator_hands_out_are_no_batches():
    held = a_list_filled_by("candidates", a_model())

    assert [found.code for found in find_causes(an_evidence(held))] == ["LW201"]


def test_list_outside_of_the_generator_is_a_container():
    held = a_holder(a_module(), a_step(".served", "list"), an_array(), grows=".served")

    assert [found.code for found in find_causes(an_evidence(held))] == ["LW102"]
