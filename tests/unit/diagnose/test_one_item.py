"""The program's code inside of a pipeline gives one item."""

import numpy as np

from lowwater.diagnose.again import Again
from lowwater.diagnose.factors.one_item import OneItem, _one_item, _one_result
from lowwater.diagnose.facts import Facts


def test_generator_gives_its_first_item_from_the_second_pass_on():
    taken = []

    def numbers(start):
        for number in range(start, start + 3):
            taken.append(number)
            yield number

    items = _one_item(numbers, Again())

    assert [[*items(5)] for _ in range(3)] == [[5, 6, 7], [5, 5, 5], [5, 5, 5]]
    assert len(taken) == 3 + 1 + 1


def test_pipelines_made_anew_in_one_line_know_each_others_count():
    again = Again()
    passes = [[*_one_item(lambda: iter("ab"), again)()] for _ in range(2)]

    assert passes == [["a", "b"], ["a", "a"]]


def test_function_is_called_once_for_each_shape():
    shapes = []

    def noted(array):
        shapes.append(array.shape)
        return array + 1

    result = _one_result(noted, np.copy)
    first, second = result(np.zeros(3)), result(np.ones(3))

    assert [*first] == [*second] == [1, 1, 1]
    assert first is not second
    assert result(np.zeros(2)).shape == (2,)
    assert shapes == [(3,), (2,)]


def test_functions_of_the_library_stay_as_they_are():
    namespace = {"__name__": "tensorflow.python.data"}
    exec("def next_item(): pass", namespace)
    function = namespace["next_item"]

    assert _one_item(function, Again()) is function
    assert _one_result(function) is function


def test_without_python_code_in_the_pipeline_there_is_nothing_to_change():
    assert OneItem().why_not(Facts()) == "tf.data calls none of your Python code"
    assert OneItem().why_not(Facts(generators=("py_function",))) is None
    assert OneItem().parts(Facts(generators=("py_function",))) == {
        "py_function": "the function of `py_function()`"
    }
