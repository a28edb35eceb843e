"""What holds without any framework."""

import gc
import sys
import weakref

import pytest

import lowwater
from lowwater.errors import UsageError
from lowwater.giveback.receipt import Receipt
from lowwater.giveback.steps import LADDER


class Net:
    """An object of the program's own."""


def step_names(receipt):
    return [step.name for step in receipt.steps]


def test_without_a_framework_it_collects_and_trims():
    receipt = lowwater.release()

    assert isinstance(receipt, Receipt)
    assert step_names(receipt)[:2] == ["drop references", "collect cycles"]
    assert "clear Keras state" not in step_names(receipt)
    assert receipt.survivors == ()


def test_object_that_only_the_call_refers_to_dies():
    seen = []

    def made():
        net = Net()
        net.itself = net
        seen.append(weakref.ref(net))
        return net

    receipt = lowwater.release(made())

    assert seen[0]() is None
    assert receipt.survivors == ()


def test_object_that_the_caller_holds_is_named():
    net = Net()
    receipt = lowwater.release(net)

    [survivor] = receipt.survivors
    assert survivor.what == "a Net"
    assert "`net` is still a local of `test_object_that_the_caller_holds_is_named()`" in (
        survivor.held_by
    )


def test_receipt_keeps_nothing_alive():
    net = Net()
    receipt = lowwater.release(net)
    reference = weakref.ref(net)
    del net
    gc.collect()

    assert reference() is None
    assert receipt.survivors


@pytest.mark.parametrize(
    ("thing", "received"),
    [(None, "None"), (42, "a int"), ("model", "a str"), ([Net()], "a list"), ({}, "a dict")],
)
def test_what_cannot_be_seen_to_die_is_refused(thing, received):
    with pytest.raises(UsageError, match=r"release\(\) takes models") as caught:
        lowwater.release(thing)

    assert f"(received: {received})" in str(caught.value)


def test_only_keras_objects_are_emptied():
    net = Net()
    with pytest.raises(UsageError, match="hollow=True empties only Keras models"):
        lowwater.release(net, hollow=True)

    assert type(net) is Net


def test_unknown_level_is_refused():
    with pytest.raises(UsageError, match="unknown level"):
        lowwater.release(level="brutal")


def test_last_exception_of_an_interactive_session_is_dropped(monkeypatch):
    net = Net()
    reference = weakref.ref(net)
    monkeypatch.setattr(sys, "last_value", net, raising=False)
    monkeypatch.setattr(sys, "last_traceback", net, raising=False)
    monkeypatch.undo()
    sys.last_value, sys.last_traceback = net, None
    del net
    lowwater.release(level="gentle")

    assert not hasattr(sys, "last_value")
    assert not hasattr(sys, "last_traceback")
    assert reference() is None


def test_notebook_cache_is_dropped_only_when_asked(monkeypatch):
    class Hook:
        flushed = 0

        def flush(self):
            Hook.flushed += 1

    class IPython:
        displayhook = Hook()

    module = type(sys)("IPython")
    module.get_ipython = lambda: IPython
    monkeypatch.setitem(sys.modules, "IPython", module)
    lowwater.release()
    assert Hook.flushed == 0
    lowwater.release(notebook=True)

    assert Hook.flushed == 1


def test_no_notebook_is_told():
    [step, *_] = lowwater.release(notebook=True).steps

    assert step.skipped == "no notebook is running, so there is no output cache to drop"


def test_step_that_fails_is_told_and_the_others_go_on(monkeypatch):
    def fail(_):
        raise RuntimeError("broken library")

    [collector] = [step for step in LADDER if step.name == "collect cycles"]
    monkeypatch.setattr(type(collector), "run", lambda self, request: fail(request))
    receipt = lowwater.release()

    told = {step.name: step.skipped for step in receipt.steps}
    assert told["collect cycles"] == "failed: RuntimeError: broken library"
    assert "trim the heap" in told


def test_ladder_is_gentlest_first_and_names_are_unique():
    names = [step.name for step in LADDER]

    assert len(set(names)) == len(names)
    assert all(len(name) <= 21 for name in names), "the receipt has a column of 21"
    assert all(type(step).__doc__ for step in LADDER)


def test_sessions_without_tensorflow_are_none():
    if "tensorflow" not in sys.modules:
        assert len(lowwater.sessions()) == 0
        assert str(lowwater.sessions()) == "no session is open"
        lowwater.sessions().close()
