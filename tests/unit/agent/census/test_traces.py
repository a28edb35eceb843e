"""Why a function was traced again is read from its last traces."""

import pytest

from lowwater.agent.census.traces import changing_argument

pytestmark = pytest.mark.tensorflow


@pytest.fixture
def tf():
    return pytest.importorskip("tensorflow")


def traced(tf, calls):
    @tf.function
    def step(x, scale, mode="train"):
        return tf.reduce_sum(x) * tf.cast(scale, tf.float32)

    for args, kwargs in calls:
        step(*args, **kwargs)
    return step


def test_new_number_is_named_with_its_values(tf):
    calls = [((tf.ones(3), number / 4), {}) for number in range(4)]

    told = changing_argument(traced(tf, calls))

    assert told == "`scale` is a new Python number each time (0.25, 0.5, 0.75)"


def test_new_shape_is_named_with_its_shapes(tf):
    calls = [((tf.ones((2, length)), 1.0), {}) for length in range(4, 7)]

    told = changing_argument(traced(tf, calls))

    assert told == "`x` has a new shape each time ((2, 4), (2, 5), (2, 6))"


def test_new_text_is_named(tf):
    calls = [((tf.ones(3), 1.0), {"mode": f"epoch {number}"}) for number in range(3)]

    assert "`mode` is a new text each time ('epoch 0'" in changing_argument(traced(tf, calls))


def test_two_that_change_together_are_both_named(tf):
    calls = [((tf.ones(length), length), {}) for length in range(3)]

    told = changing_argument(traced(tf, calls))

    assert told.startswith("`x` has a new shape each time")
    assert "and `scale` is a new Python number" in told


def test_function_of_few_traces_tells_nothing(tf):
    calls = [((tf.ones(3), 1.0), {}), ((tf.ones(3), 2.0), {})]

    assert changing_argument(traced(tf, calls)) == ""


def test_argument_that_only_alternates_is_not_blamed(tf):
    # Three traces, no argument differs each time: training or not, one shape or another.
    calls = [((tf.ones(3), 1.0), {}), ((tf.ones(4), 1.0), {}), ((tf.ones(4), 2.0), {})]

    assert changing_argument(traced(tf, calls)) == ""
