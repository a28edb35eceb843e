"""Which changes come first."""

from lowwater.experiment import Measured
from lowwater.experiments.factors import FACTORS
from lowwater.experiments.facts import Facts
from lowwater.experiments.order import in_order, is_suspected, partners
from lowwater.model import Finding, Kind

LEAK = Measured(Kind.LEAK)


def found(*codes):
    return [Finding(code, "", "", "", "train.py:3") for code in codes]


def first_of(*codes, **facts):
    """Those that apply, up to the containers."""
    known = Facts(**facts, additions={"train.py:3": "kept"}, backend="tensorflow")
    keys = [
        one.key
        for one in in_order(FACTORS, LEAK, found(*codes), known)
        if one.why_not(known) is None
    ]
    return keys[: keys.index("containers")]


def test_callback_and_pipeline_are_asked_before_the_container_that_they_fill():
    assert first_of("LW102", fits=1, callbacks={"A": ""}, inputs=("tf.data",)) == [
        *("callbacks", "one-batch")
    ]


def test_known_leak_is_asked_before_the_models_that_it_keeps_and_only_with_them():
    assert first_of("LW102", fits=1, models=2) == ["mended", "same-model"]
    assert first_of("LW102", fits=1, models=1) == []


def test_holes_in_the_heap_have_changes_of_their_own():
    keys = [one.key for one in in_order(FACTORS, Measured(Kind.FRAGMENTED), (), Facts())]

    assert keys == ["heap", "jemalloc"]


def test_partners_speak_for_different_findings():
    findings = found("LW201", "LW205")
    suspects = [one for one in FACTORS if is_suspected(one, findings)]

    first, second = partners(suspects, findings)

    assert {"LW201", "LW205"} <= {*first.codes, *second.codes}
    assert partners(suspects, found("LW205")) == []
