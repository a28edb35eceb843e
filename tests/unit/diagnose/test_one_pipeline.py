"""One pipeline for each line that makes some."""

from types import SimpleNamespace

import pytest

from lowwater.diagnose.one_pipeline import reuse_pipelines


@pytest.fixture
def dataset():
    """A stand-in for `tf.data.Dataset`, as it is after the change."""

    class Dataset:
        def __init__(self, steps=()):
            self.steps = steps

        @staticmethod
        def from_generator(generator):
            return Dataset((generator,))

        def map(self, function):
            return Dataset((*self.steps, function))

    reuse_pipelines(SimpleNamespace(data=SimpleNamespace(Dataset=Dataset)))
    return Dataset


def test_a_line_makes_one_pipeline_however_often_it_is_passed(dataset):
    made = [dataset.from_generator(lambda: iter(())).map(str) for _ in range(3)]

    assert made[0] is made[1] is made[2]
    assert len(made[0].steps) == 2


def test_two_lines_make_two(dataset):
    one = dataset.from_generator(iter)
    other = dataset.from_generator(iter)

    assert one is not other


def test_one_line_that_maps_two_functions_makes_both_steps(dataset):
    def double(number):
        return 2 * number

    def half(number):
        return number / 2

    made = dataset.from_generator(iter)
    for function in (double, half):
        made = made.map(function)

    assert made.steps == (iter, double, half)


def test_pipelines_of_a_library_are_its_own(dataset):
    namespace = {"__name__": "keras.src.trainers", "dataset": dataset}
    exec("def adapt():\n    return dataset.from_generator(iter)\n", namespace)

    assert namespace["adapt"]() is not namespace["adapt"]()
