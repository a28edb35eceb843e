"""What a step of torch takes with one sample."""

from lowwater.model.footprint import Fixed, StepPeak
from lowwater.sizing.backends._torch_steps import floor_of

FIXED = Fixed(weights_bytes=100, optimizer_bytes=200, gradients_bytes=100, sample_bytes=5)


def test_it_is_what_is_there_beside_weights_optimizer_and_sample():
    assert floor_of(lambda size: StepPeak(size, (655, 650), 0.1), lambda: FIXED) == 350


def test_model_that_refuses_one_sample_has_none():
    def fails(size):
        raise ValueError("Expected more than 1 value per channel when training")

    assert floor_of(fails, lambda: FIXED) == 0
