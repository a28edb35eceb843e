"""The parts of a peak add up to it, whatever was measured."""

import itertools

import pytest

from footprints import FIXED, MIB, a_footprint, a_watched_step
from lowwater.model.footprint import Fixed, StepsFound
from lowwater.sizing.found import footprint_of
from lowwater.sizing.parts import parts_of


def test_parts_of_a_known_model():
    parts = {part.name: part.size_bytes / MIB for part in a_footprint(batch_size=64).parts}

    assert parts == {
        "weights": 10,
        "optimizer": 20,
        "batch": 8,
        "pool rounding": 0,
        "activations": pytest.approx(120, abs=0.01),
        "gradients": pytest.approx(5, abs=0.01),
        "workspace": 0,
    }


def test_what_the_pool_rounds_up_is_a_part():
    seen = tuple(map(a_watched_step, (8, 16, 32)))
    footprint = footprint_of(StepsFound("CPU:0", Fixed(10 * MIB, MIB, 10 * MIB), seen), 100)

    parts = {part.name: part.size_bytes / MIB for part in footprint.parts}

    assert parts["activations"] == pytest.approx(1.4 * 100, rel=0.01)
    assert parts["pool rounding"] > 1
    assert sum(parts.values()) == pytest.approx(footprint.peak_bytes / MIB)


def test_only_gradients_are_an_upper_bound():
    assert [part.name for part in a_footprint().parts if part.is_at_most] == ["gradients"]


@pytest.mark.parametrize(
    ("peak_mib", "slope", "batch_size", "is_known"),
    [*itertools.product((1, 29, 31, 500), (0, 0.01, 3), (1, 64, 4096), (True, False))],
)
def test_parts_add_up_and_none_is_negative(peak_mib, slope, batch_size, is_known):
    growing_bytes = slope * MIB * batch_size if is_known else None

    parts = parts_of(peak_mib * MIB, batch_size, FIXED, growing_bytes)

    assert sum(part.size_bytes for part in parts) == peak_mib * MIB
    assert min(part.size_bytes for part in parts) >= 0


def test_model_without_weights_has_parts_too():
    parts = parts_of(5 * MIB, 1, Fixed(0, 0, 0), None)

    assert parts[-1].size_bytes == 5 * MIB
