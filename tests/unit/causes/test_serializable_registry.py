import pytest

from lowwater.causes.catalogue import find_causes
from lowwater.testing import a_holder, a_module, a_step, an_array, an_evidence


def a_table(module="keras.src.saving.object_registration", edge=".GLOBAL_CUSTOM_NAMES"):
    return a_holder(
        a_module(module),
        a_step(edge, "dict"),
        a_step("key", "function", about="make.<locals>.loss", where="train.py:13"),
        an_array("closure prior"),
        grows=edge,
        is_users=module == "__main__",
    )


@pytest.mark.parametrize(
    "table",
    [
        a_table(),
        a_table(edge=".GLOBAL_CUSTOM_OBJECTS"),
        a_table("tf_keras.src.saving.object_registration", "._GLOBAL_CUSTOM_NAMES"),
    ],
)
def test_function_registered_in_every_round_is_found(table):
    [finding] = find_causes(an_evidence(table))

    assert finding.code == "LW213"
    assert finding.message == (
        "The Keras table of registered classes grows by one class or function every epoch. A "
        "leak in keras (measured on 3.15; other releases were not measured); reported as "
        "streamlit/streamlit#12045."
    )
    assert (finding.where, finding.holder) == ("train.py:13", "keras registered classes")


def test_table_of_the_program_with_the_same_name_is_the_programs():
    [finding] = find_causes(an_evidence(a_table("__main__")))

    assert finding.code == "LW104"
    assert finding.library is None


def test_other_table_of_keras_is_not_blamed():
    other = a_table("keras.src.backend.common.global_state", ".GLOBAL_SETTINGS_TRACKER")

    assert [found.code for found in find_causes(an_evidence(other))] != ["LW213"]
