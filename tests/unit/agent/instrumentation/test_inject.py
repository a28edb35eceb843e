"""A call is placed into a function without adding a frame, and taken out again."""

import functools
import traceback

import pytest

from lowwater.agent.instrumentation._inject import CannotInject, injected, rebound
from lowwater.agent.instrumentation._placement import innermost


def logged(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs)

    return wrapper


class Base:
    def __init__(self):
        self.made = True


class Trainer(Base):
    def __init__(self, fail=False):
        """Docstring."""
        super().__init__()
        self.fail = fail

    @logged
    def fit(self, x, *, epochs=1):
        """Train."""

        def helper():
            return x * 2

        if self.fail:
            raise RuntimeError("no luck")
        if epochs > 1:
            return helper()
        return x


def test_the_call_comes_before_the_body_with_its_arguments():
    calls = []
    with injected(innermost(Trainer.fit), calls.append, "start", "x"):
        assert Trainer().fit(3, epochs=2) == 6

    assert calls == [3]


def test_the_call_comes_before_every_return_and_at_the_end():
    calls = []
    with injected(innermost(Trainer.fit), lambda: calls.append(1), "end"):
        Trainer().fit(3)
        Trainer().fit(3, epochs=2)
        with injected(innermost(Trainer.__init__), calls.append, "end", "fail"):
            Trainer()

    assert calls == [1, 1, False]


def test_a_failing_call_is_not_counted_as_an_end():
    calls = []
    placed = injected(innermost(Trainer.fit), lambda: calls.append(1), "end")
    with placed, pytest.raises(RuntimeError):
        Trainer(fail=True).fit(3)

    assert calls == []


def test_super_still_works():
    with injected(Trainer.__init__, lambda: None, "start"):
        assert Trainer().made


def test_the_function_stays_the_same_object_and_gets_its_code_back():
    fit, code = Trainer.__dict__["fit"], innermost(Trainer.fit).__code__
    with injected(innermost(Trainer.fit), lambda: None, "start"):
        assert Trainer.__dict__["fit"] is fit
        assert innermost(Trainer.fit).__code__ is not code
        assert fit.__doc__ == "Train."

    assert innermost(Trainer.fit).__code__ is code


def test_tracebacks_are_the_same_to_the_letter():
    def failure():
        try:
            Trainer(fail=True).fit(3)
        except RuntimeError as error:
            return traceback.format_exception(error)

    plain = failure()
    with injected(innermost(Trainer.fit), lambda: None, "start"):
        ticking = failure()

    assert ticking == plain


def test_a_function_without_source_is_refused():
    namespace = {}
    exec("def f():\n    return 1", namespace)

    with (
        pytest.raises(CannotInject, match="has no source"),
        injected(namespace["f"], print, "start"),
    ):
        pass


def test_a_method_written_in_c_is_refused():
    with pytest.raises(TypeError, match="not a Python function"):
        innermost(list.append)


def test_argument_begins_with_another_value():
    with rebound(innermost(Trainer.fit), "x", lambda x: x * 10):
        changed = Trainer().fit(2)

    assert (changed, Trainer().fit(2)) == (20, 2)


def test_several_placements_in_one_function_live_together_and_leave_in_any_order():
    function, seen = innermost(Trainer.fit), []
    original = function.__code__
    first = injected(function, lambda: seen.append("first"), "start")
    second = rebound(function, "x", lambda x: seen.append("second") or x)

    first.__enter__()
    second.__enter__()
    Trainer().fit(2)
    first.__exit__(None, None, None)
    Trainer().fit(2)
    second.__exit__(None, None, None)

    assert sorted(seen) == ["first", "second", "second"]
    assert function.__code__ is original
