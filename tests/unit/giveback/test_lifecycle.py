"""Blocks, without any framework."""

import gc
import threading
import weakref

import pytest

import lowwater
from lowwater.errors import UsageError


class Net:
    """An object of the program's own."""


def test_block_has_a_receipt_with_its_name():
    with lowwater.lifecycle("trial 3") as life:
        assert life.receipt is None

    assert str(life.receipt).startswith("released trial 3: ")


def test_exception_passes_through_and_its_frames_let_go():
    seen = []

    def failing():
        net = Net()
        seen.append(weakref.ref(net))
        raise ValueError("diverged")

    with pytest.raises(ValueError, match="diverged") as caught, lowwater.lifecycle() as life:
        failing()

    assert seen[0]() is None
    assert caught.value.__traceback__ is not None
    assert life.receipt is not None


def test_interrupt_passes_through():
    with pytest.raises(KeyboardInterrupt), lowwater.lifecycle() as life:
        raise KeyboardInterrupt

    assert life.receipt is not None


def test_failing_release_does_not_hide_the_programs_exception(monkeypatch):
    def fail(_):
        raise RuntimeError("ours")

    monkeypatch.setattr("lowwater.giveback.lifecycle.climb", fail)
    with pytest.raises(ValueError, match="theirs"), lowwater.lifecycle() as life:
        raise ValueError("theirs")

    assert life.receipt.notes == ("the release failed: RuntimeError: ours",)


def test_same_object_may_be_entered_again_inside():
    life = lowwater.lifecycle("again")
    with life:
        with life:
            inner = life.keep(Net())
        first = life.receipt

    assert life.receipt is not first
    assert isinstance(inner, Net)


def test_decorated_function_keeps_its_name_and_result():
    @lowwater.lifecycle("trial")
    def trial(a, *, b):
        """Train."""
        return a + b

    assert trial(1, b=2) == 3
    assert (trial.__name__, trial.__doc__) == ("trial", "Train.")


def test_decorated_function_may_run_on_many_threads():
    @lowwater.lifecycle()
    def trial(number):
        return number

    results = []
    threads = [
        threading.Thread(target=lambda n=number: results.append(trial(n))) for number in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(results) == [0, 1, 2, 3]


def test_decorator_without_brackets_is_explained():
    with pytest.raises(UsageError, match="with the brackets"):

        @lowwater.lifecycle
        def trial():
            """Do nothing."""


def test_generators_and_coroutines_are_refused():
    def generator():
        yield

    async def coroutine():
        """Do nothing."""

    for function in (generator, coroutine):
        with pytest.raises(UsageError, match="decorates plain functions"):
            lowwater.lifecycle()(function)


def test_keep_outside_of_the_block_is_refused():
    life = lowwater.lifecycle()
    with pytest.raises(UsageError, match="inside the block"):
        life.keep(Net())


@pytest.mark.parametrize("thing", [1, None, "x", [Net(), 1], {"a": (Net(),)}])
def test_anything_may_be_kept(thing):
    with lowwater.lifecycle() as life:
        assert life.keep(thing) is thing


def test_block_holds_nothing_of_the_program():
    with lowwater.lifecycle() as life:
        net = life.keep(Net())
    reference = weakref.ref(net)
    del net
    gc.collect()

    assert reference() is None
