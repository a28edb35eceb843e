from lowwater.causes.catalogue import find_causes
from lowwater.model import tallies
from lowwater.testing import a_holder, a_model, a_module, a_step, a_tally, an_evidence


def test_list_of_models_is_found_with_their_native_side():
    held = a_holder(
        a_module(),
        a_step(".candidates", "list"),
        a_model(),
        grows=".candidates",
        added_at="tune.py:14",
        mib=3,
    )

    [finding] = find_causes(an_evidence(held, unit="model", mib=4))

    assert finding.code == "LW201"
    assert finding.message == (
        "`candidates` grows by one `Sequential` model with every model built."
    )
    assert finding.where == "tune.py:14"
    assert finding.share == 1.0


def test_objects_that_keep_a_model_are_found():
    held = a_holder(
        a_module(),
        a_step(".trials", "dict"),
        a_step("[*]", "__main__.Trial", where="tune.py:3"),
        a_model(".model"),
        grows=".trials",
    )

    [finding] = find_causes(an_evidence(held, unit="iteration"))

    assert finding.message == (
        "`trials` grows by one item that keeps a `Sequential` model every iteration."
    )


def test_models_whose_holder_was_not_found_are_counted():
    models = a_tally(tallies.MODELS, "Sequential", where="tune.py:9")

    [finding] = find_causes(an_evidence(models, unit="iteration"))

    assert finding.code == "LW201"
    assert finding.message == (
        "The number of live models grows: one `Sequential` every iteration. What keeps them "
        "was not found."
    )
    assert finding.where == "tune.py:9"


def test_models_that_stay_the_same_number_are_innocent():
    models = a_tally(tallies.MODELS, "Sequential", each=0, where="tune.py:9")

    assert [found.code for found in find_causes(an_evidence(models))] == ["LW404"]


def test_table_of_the_library_that_leads_to_one_model_is_not_blamed():
    held = a_holder(
        a_module("keras.src.backend"),
        a_step(".tracker", "dict"),
        a_model(),
        grows=".tracker",
        is_users=False,
    )

    assert [found.code for found in find_causes(an_evidence(held))] == ["LW404"]
