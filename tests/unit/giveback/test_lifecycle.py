"""Blocks, without any framework."""

import gc
import os
import threading
import weakref

import pytest

import lowwater
from lowwater.errors import UsageError
from lowwater.giveback.request import one_at_a_time


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


def in_a_block(life, net=None):
    """Stands for a task that waits inside its block."""
    with life:
        if net is not None:
            life.keep(net)
        yield


def test_tasks_that_take_turns_end_their_own_blocks():
    life = lowwater.lifecycle()
    first, second = in_a_block(life, Net()), in_a_block(life)
    next(first)
    next(second)
    earlier, later = life._runs

    assert [*first] == []

    assert life._runs == [later]
    assert (len(earlier.kept), len(later.kept)) == (1, 0)
    assert earlier.overlaps
    assert later.overlaps
    assert [*second] == []
    assert life._runs == []


def test_block_inside_another_does_not_overlap():
    outer, inner = lowwater.lifecycle(), lowwater.lifecycle()
    with outer:
        [around] = outer._runs
        task = in_a_block(inner)
        next(task)
        [inside] = inner._runs
        list(task)

    assert not around.overlaps
    assert not inside.overlaps


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_child_that_is_forked_during_a_release_can_release():
    is_held, is_over = threading.Event(), threading.Event()

    def hold():
        with one_at_a_time:
            is_held.set()
            is_over.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    is_held.wait()
    child = os.fork()
    if child == 0:
        # Not `with`: if it is locked here, it is locked for ever.
        os._exit(0 if one_at_a_time.acquire(timeout=5) else 1)
    _, status = os.waitpid(child, 0)
    is_over.set()
    thread.join()

    assert os.waitstatus_to_exitcode(status) == 0


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
    with pytest.raises(UsageError, match="with parentheses"):

        @lowwater.lifecycle
        def trial():
            """Do nothing."""


def test_generators_and_coroutines_are_refused():
    def generator():
        yield

    async def coroutine():
        """Do nothing."""

    for function in (generator, coroutine):
        with pytest.raises(UsageError, match="decorates only plain functions"):
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
