"""Which changes come first."""

from lowwater.diagnose.factors import FACTORS
from lowwater.diagnose.facts import Facts, HeldFact
from lowwater.diagnose.order import in_order, is_suspected, partners
from lowwater.model import Finding, Kind
from lowwater.model.experiment import Measured

LEAK = Measured(Kind.LEAK)


def found(*codes):
    return [Finding(code, "", "", "", "train.py:3") for code in codes]


def held(code):
    return HeldFact(f"{code} train.py:3 kept", code, ("kept",), "train.py:3", ())


def order_of(*codes, **facts):
    """Those that apply."""
    known = Facts(**facts, found=codes, held=tuple(map(held, codes)), backend="tensorflow")
    ordered = in_order(FACTORS, LEAK, found(*codes), known)
    return [one.key for one in ordered if one.why_not(known) is None]


def test_what_a_finding_names_is_asked_before_what_only_makes_less():
    order = order_of("LW102", fits=1, callbacks={"A": ""}, inputs=("tf.data",), models=2)

    assert order[0] == "cut"
    assert {"one-batch", "same-model", "eager", "callbacks"} <= {*order}


def test_callback_that_is_found_is_asked_before_the_container_that_it_fills():
    assert order_of("LW101", fits=1, callbacks={"A": ""})[:2] == ["callbacks", "cut"]


def test_holes_in_the_heap_have_changes_of_their_own():
    keys = [one.key for one in in_order(FACTORS, Measured(Kind.FRAGMENTED), (), Facts())]

    assert keys == ["heap", "jemalloc"]


def test_partners_speak_for_different_findings():
    known = Facts(found=("LW202", "LW205"))
    suspects = [one for one in FACTORS if is_suspected(one, known)]

    first, second = partners(suspects, known)

    assert {"LW202", "LW205"} <= {*first.codes, *second.codes}
    assert partners(suspects, Facts(found=("LW205",))) == []
