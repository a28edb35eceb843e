"""All arrays have the shape of the first."""

import numpy as np

from lowwater.diagnose.factors.one_shape import OneShape, with_one_shape
from lowwater.diagnose.facts import MANY_SHAPES, Facts


def test_rows_are_cut_or_filled_and_stay_as_many():
    shapes = {}
    first = np.ones((4, 5, 2))
    given = [
        with_one_shape(shapes, (), one) for one in (first, np.ones((3, 9, 2)), np.ones((7, 1, 2)))
    ]

    assert given[0] is first
    assert [one.shape for one in given] == [(4, 5, 2), (3, 5, 2), (7, 5, 2)]


def test_each_input_has_a_shape_of_its_own():
    shapes = {}
    with_one_shape(shapes, (), {"words": np.ones((2, 5)), "image": [np.ones((2, 8, 8))]})

    given = with_one_shape(shapes, (), {"words": np.ones((2, 6)), "image": [np.ones((2, 9, 9))]})

    assert given["words"].shape == (2, 5)
    assert given["image"][0].shape == (2, 8, 8)


def test_labels_without_width_and_what_is_no_array_stay():
    labels, generator = np.ones(3), iter(())
    shapes = {}

    assert with_one_shape(shapes, (), labels) is labels
    assert with_one_shape(shapes, (), generator) is generator
    assert with_one_shape(shapes, (), None) is None
    assert shapes == {}


def test_a_few_shapes_are_no_reason():
    few = Facts(shapes=MANY_SHAPES - 1)

    assert OneShape().why_not(few) == "Keras is not given arrays of many shapes"
    assert OneShape().why_not(Facts(shapes=MANY_SHAPES)) is None
