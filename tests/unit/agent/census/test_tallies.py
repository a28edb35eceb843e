"""Counts are kept per census, in the order of the censuses, and hold no object."""

import gc
import sys
import weakref

import pytest

from lowwater.agent.census.growth_site import Sources
from lowwater.agent.census.tallies import Tallies
from lowwater.model import Tally, tallies
from lowwater.model.tallies import Row

FIT = Row(tallies.CALLS, "fit", "train.py:9")
PREDICT = Row(tallies.CALLS, "predict", "train.py:12")


@pytest.fixture
def counted():
    sources = Sources()
    sources.add(__file__, b"", "train.py")
    return Tallies(sources)


def test_each_census_has_its_count(counted):
    for fits in (1, 4, 9):
        counted.take([], {FIT: fits})

    assert counted.rows() == [Tally(tallies.CALLS, "fit", (1, 4, 9), "train.py:9")]
    assert counted.rows()[0].grew


def test_what_appears_late_or_disappears_counts_nothing_elsewhere(counted):
    counted.take([], {FIT: 1})
    counted.take([], {PREDICT: 3})

    assert [(row.name, row.counts) for row in counted.rows()] == [
        ("predict", (0, 3)),
        ("fit", (1, 0)),
    ]


def test_what_grew_most_comes_first_and_the_rest_is_cut_off(counted):
    rows = [Row(tallies.CALLS, f"call {number}") for number in range(150)]
    counted.take([], dict.fromkeys(rows, 1))
    counted.take([], {row: number for number, row in enumerate(rows)})
    told = counted.rows()

    assert len(told) == 100
    assert told[0].name == "call 149"


def test_nothing_was_counted_yet(counted):
    assert counted.rows() == []


def test_only_functions_and_graphs_of_tensorflow_are_wanted(counted):
    assert not any(map(counted.wants, (int, dict, type, type(counted), type(sys))))


class Broken:
    def __getattr__(self, name):
        raise RuntimeError(name)


def test_object_that_cannot_be_counted_is_left_out(counted):
    counted.take([Broken(), object(), None, 3], {FIT: 1})

    assert [row.counts for row in counted.rows()] == [(1,)]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.tensorflow
class TestTensorFlow:
    @pytest.fixture(scope="class")
    def tf(self):
        return pytest.importorskip("tensorflow")

    def test_traces_of_a_function_are_counted_at_its_definition(self, tf, counted):
        @tf.function
        def train_step(x):
            return x + 1

        first_line = train_step.python_function.__code__.co_firstlineno
        for number in range(3):
            train_step(number)
            counted.take([train_step], {})
        [told] = [row for row in counted.rows() if row.kind == tallies.TRACES]

        assert counted.wants(type(train_step))
        assert told.counts == (1, 2, 3)
        assert told.where == f"train.py:{first_line}"
        assert told.name.endswith("train_step")

    def test_operations_of_a_graph_are_counted_at_the_line_that_adds_them(self, tf, counted):
        graph = tf.Graph()
        with graph.as_default():
            for _ in range(3):
                tf.compat.v1.placeholder(tf.float32)
                counted.take([graph], {})
        [told] = [row for row in counted.rows() if row.kind == tallies.OPERATIONS]

        assert counted.wants(type(graph))
        assert told.counts == (1, 2, 3)
        assert told.where.startswith("train.py:")

    def test_counting_holds_nothing(self, tf, counted):
        graph = tf.Graph()
        gone = weakref.ref(graph)
        counted.take([graph], {})
        del graph
        gc.collect()

        assert gone() is None
