from lowwater.causes.catalogue import find_causes
from lowwater.model import tallies
from lowwater.testing import a_holder, a_model, a_module, a_step, a_tally, an_evidence

MADE = a_tally(tallies.CALLS, "Model", where="train.py:23")
LAYER = ("keras.src.layers.layer.Layer", "keras.src.ops.operation.Operation")
BACKBONE = a_step(".backbone", "keras.src.models.functional.Functional", *LAYER)


def a_backbone_that_grows(edge="._outbound_nodes", *, owner=BACKBONE, added_at=None):
    return a_holder(
        a_module(),
        owner,
        a_step(edge, "list"),
        a_step("[*]", "keras.src.ops.node.Node"),
        grows=edge,
        added_at=added_at,
    )


def codes(*seen):
    return [found.code for found in find_causes(an_evidence(*seen))]


def test_backbone_keeps_the_heads_of_all_models():
    [finding] = find_causes(an_evidence(a_backbone_that_grows(), MADE, unit="iteration"))

    assert finding.code == "LW212"
    assert finding.message == (
        "A `Functional` that is still in use keeps every layer ever connected to it, with the "
        "weights of deleted models: one model every iteration. A leak in "
        "keras (measured on 3.15, and on tf_keras 2.21; other releases were not measured); no "
        "known report."
    )
    assert (finding.where, finding.holder) == ("train.py:23", "keras layer nodes")


def test_legacy_keras_calls_the_list_otherwise():
    assert codes(a_backbone_that_grows("._outbound_nodes_value")) == ["LW212"]


def test_layer_that_grows_while_models_come_and_go_has_their_nodes():
    """Of a library's object the walk may not know which attribute it is."""
    assert codes(a_backbone_that_grows("[*]"), MADE) == ["LW212"]


def test_layer_that_grows_while_one_model_is_there_is_not_blamed_for_nodes():
    one_model = a_tally(tallies.CALLS, "Model", each=0, where="train.py:9")

    assert codes(a_backbone_that_grows("[*]"), one_model) == ["LW102"]


def test_list_that_the_program_adds_to_is_the_programs():
    seen = a_backbone_that_grows(".seen", added_at="train.py:30")

    assert codes(seen, MADE) == ["LW102"]


def test_layer_of_the_program_is_not_known_by_its_growth_alone():
    own = a_step(".tracker", "train.Tracker", *LAYER, where="train.py:5")

    assert codes(a_backbone_that_grows(".history", owner=own), MADE) == ["LW102"]


def test_models_that_stay_alive_are_the_programs():
    held = a_holder(a_module(), a_step(".models", "list"), a_model(), grows=".models")
    alive = a_tally(tallies.MODELS, "Functional", where="train.py:23")

    assert codes(held, MADE, alive) == ["LW201"]
