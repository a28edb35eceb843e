"""Calls of a framework are counted by the program's line, and never disturb the call."""

import threading
import types
import weakref
from itertools import repeat

import numpy as np
import pytest

from lowwater.agent.instrumentation.calls import (
    Calls,
    Site,
    optimizer_placements,
    pipeline_placements,
)

FILE = "/home/me/train.py"


@pytest.fixture
def calls():
    return Calls(lambda filename: filename == FILE)


def in_the_program(text, **names):
    """Run a text as a file of the program's."""
    exec(compile(text, FILE, "exec"), names)
    return names


def test_call_is_counted_by_the_line_of_the_program(calls):
    fit = calls.counter("fit")
    in_the_program("\n\nfor epoch in range(3):\n    fit()\nfit()\n", fit=fit)

    assert calls.counts == {Site("fit", FILE, 4): 3, Site("fit", FILE, 5): 1}


def test_innermost_line_of_the_program_counts(calls):
    fit = calls.counter("fit")

    def a_library(function):
        function()

    in_the_program(
        "def inner():\n    library(fit)\ndef outer():\n    inner()\nouter()\n",
        library=a_library,
        fit=fit,
    )

    assert calls.counts == {Site("fit", FILE, 2): 1}


def test_call_that_the_program_did_not_make_is_not_counted(calls):
    calls.counter("fit")()

    assert calls.counts == {}
    assert calls.where() is None


def test_thread_of_a_library_has_no_line_of_the_program(calls):
    fit = calls.counter("fit")

    def start():
        thread = threading.Thread(target=fit)
        thread.start()
        thread.join()

    in_the_program("start()", start=start)

    assert calls.counts == {}


class Looks:
    """Stands in for the passes of a place: how many calls each look stands for."""

    def __init__(self, stands_for):
        self._stands_for = iter(stands_for)
        self.skipping = [repeat(0, 0)]
        self.made = 0

    def look(self):
        self.made += 1
        step = next(self._stands_for)
        self.skipping[0] = repeat(0, step - 1)
        return step


def test_tick_is_called_with_and_without_a_line(calls):
    fits, predictions = Looks([1, 1]), Looks([1, 1])
    fit = calls.counter("fit", fits)
    predict = calls.counter_of_shapes("predict", predictions)
    in_the_program("fit()\npredict(None)\n", fit=fit, predict=predict)
    fit()
    predict(None)

    assert (fits.made, predictions.made) == (2, 2)


def test_call_counts_for_as_many_as_its_tick_says(calls):
    fit = calls.counter("fit", Looks([1, 3, 1]))
    in_the_program("for epoch in range(5):\n    fit()\n", fit=fit)

    assert calls.counts == {Site("fit", FILE, 2): 5}


def shapes_after(calls, *data):
    predict = calls.counter_of_shapes("predict", Looks(repeat(1)))
    in_the_program("for one in data:\n    predict(one)\n", predict=predict, data=data)
    [count] = calls.counts.values()
    assert count == len(data)
    return sum(map(len, calls.shapes.values()))


def test_shapes_are_counted_once_each(calls):
    data = [np.zeros(shape) for shape in ((3, 4), (3, 4), (4, 3), (3,), ())]

    assert shapes_after(calls, *data) == 4


def test_shapes_that_differ_are_counted_in_every_call(calls):
    predict = calls.counter_of_shapes("predict", Looks([1] * 5 + [95]))
    data = [np.zeros(length) for length in range(100)]
    in_the_program("for one in data:\n    predict(one)\n", predict=predict, data=data)

    assert sum(map(len, calls.shapes.values())) == 100
    assert sum(calls.counts.values()) == 100


def test_data_without_a_shape_counts_none(calls):
    assert shapes_after(calls, [1, 2], None, {"x": np.zeros(3)}, iter([])) == 0


class Bomb(BaseException):
    pass


class Data:
    calls = 0

    def explode(self, *_):
        Data.calls += 1
        raise Bomb

    shape = property(explode)
    __getattr__ = __len__ = __hash__ = __eq__ = __repr__ = explode


class OwnArray(np.ndarray):
    shape = property(Data.explode)


def test_data_of_the_programs_own_kinds_is_not_asked(calls):
    assert shapes_after(calls, Data(), np.zeros(3).view(OwnArray)) == 0
    assert Data.calls == 0


def a_library_array(shape):
    """An array of a library whose shape is odd."""
    kind = type("Array", (), {"__module__": "tensorflow.python", "shape": shape})
    return kind()


class NoHash:
    __hash__ = None


@pytest.mark.parametrize(
    "shape",
    [
        property(lambda self: 1 // 0),
        property(lambda self: None),
        (NoHash(), NoHash()),  # the dimensions of v1
        7,
    ],
)
def test_odd_shape_of_a_library_does_not_disturb_the_call(calls, shape):
    assert shapes_after(calls, a_library_array(shape)) == 0


def test_class_without_a_proper_module_does_not_disturb_the_call(calls):
    kind = type("Odd", (), {})
    kind.__module__ = None

    assert shapes_after(calls, kind()) == 0


def test_ever_new_shapes_do_not_fill_the_memory(calls):
    shapes_after(calls, *(np.zeros((number, 0)) for number in range(6_000)))

    [shapes] = calls.shapes.values()
    assert len(shapes) == 4096


def test_counting_keeps_no_data_alive(calls):
    data = np.zeros(10)
    gone = weakref.ref(data)
    predict = calls.counter_of_shapes("predict", Looks(repeat(2)))
    names = in_the_program("predict(data)", predict=predict, data=data)
    del data
    names.clear()

    assert gone() is None


def test_counter_takes_microseconds(calls):
    import time

    fit = calls.counter("fit")
    start = time.process_time()
    in_the_program("for _ in range(10_000):\n    fit()\n", fit=fit)

    assert time.process_time() - start < 0.5


def test_definitions_are_counted_where_they_stand(calls):
    names = in_the_program("\ndef loss(x):\n    return x\n")
    for _ in range(3):
        calls.count_definition(names["loss"].__code__)
    calls.count_definition(None)
    calls.count_definition(test_definitions_are_counted_where_they_stand.__code__)

    assert calls.functions == {Site("loss", FILE, 2): 3}


def a_keras():
    class Model:
        def compile(self):
            pass

    class Optimizer:
        def __init__(self):
            pass

    return types.SimpleNamespace(Model=Model, optimizers=types.SimpleNamespace(Optimizer=Optimizer))


def test_places_in_keras(calls):
    keras = a_keras()
    placements = [*optimizer_placements(keras, calls)]

    assert [one.function for one in placements] == [
        keras.Model.compile,
        keras.optimizers.Optimizer.__init__,
    ]
    assert {one.at for one in placements} == {"start"}


def test_places_in_pipelines(calls):
    class DatasetV2:
        def cache(self):
            pass

        def shuffle(self):
            pass

        @staticmethod
        def from_generator(generator):
            pass

    placements = [*pipeline_placements(types.SimpleNamespace(DatasetV2=DatasetV2), calls)]
    found = [one.function.__name__ for one in placements]

    assert found == ["cache", "shuffle", "from_generator"]
