"""Why memory ran out on a GPU that is only host memory: the right word for each of three."""

import pytest

pytestmark = pytest.mark.devices

MIB = 1 << 20
PROGRAMS = {
    "leak": """
        kept = []
        for number in range(100):
            kept.append(tf.zeros((16, 1024, 256)))
    """,
    "too big": """
        kept = tf.zeros((32, 1024, 1024))
        more = tf.zeros((112, 1024, 1024))
    """,
    "fragmented": """
        blocks = [tf.zeros((4, 1024, 1024)) for number in range(28)]
        blocks = blocks[::2]
        large = tf.zeros((40, 1024, 1024))
    """,
}


@pytest.mark.parametrize("manner", PROGRAMS)
def test_each_end_on_a_device_has_its_word(hostgpu, programs, manner):
    lines = [line.strip() for line in PROGRAMS[manner].strip().splitlines()]
    if manner == "leak":
        lines[-1] = f"    {lines[-1]}"
    text = "\n".join(["import tensorflow as tf", *lines])

    report, done = programs.watch(text, hostgpu(768 * MIB).environment())

    found = report["autopsy"]
    assert (found["manner"], found["place"]) == (manner, "GPU:0"), found["because"]
    assert found["request"]["where"] == f"train.py:{len(lines) + 1}"
    assert found["held"][0]["place"] == "GPU:0"
    assert f"Out of memory: {manner}" in done.stderr
