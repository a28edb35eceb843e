"""TensorFlow's cache of kernels is emptied when the program is over, and not before."""

import pytest

pytestmark = pytest.mark.tensorflow

# Under a global seed each eager draw has a kernel of its own, with the state of its generator.
DRAWS = """\
    import atexit
    import tensorflow as tf
    kept = []

    def draw():
        return float(tf.random.uniform((), seed=1)).hex()

    for step in range(8):
        print(draw())
        kept = [*kept, bytes({size})]
    atexit.register(lambda: print(draw()))
"""


def test_numbers_that_are_drawn_until_the_last_exit_handler_are_the_same(programs):
    programs.write("draw.py", DRAWS.format(size=2_000_000))
    plain, watched = programs.plain("draw.py"), programs.watch("draw.py")

    assert watched.stdout == plain.stdout
    assert len({*plain.stdout.split()}) == 9
    assert watched.timeline.collections
    assert watched.timeline.kernel_cache_bytes is not None


def test_a_run_that_never_rose_is_left_alone_to_its_end(programs):
    programs.write("draw.py", DRAWS.format(size=0))
    watched = programs.watch("draw.py")

    assert watched.returncode == 0
    assert watched.timeline.collections == ()
    assert watched.timeline.kernel_cache_bytes is None
