"""What the stages of real pipelines keep: as computed, and as the process really holds."""

import json
import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.tensorflow

MIB = 1 << 20
# Each sample has 1 MiB. All cases run in one process: TensorFlow takes seconds to start.
PROGRAM = """\
import json, sys
import numpy as np
import tensorflow as tf
import lowwater
from lowwater.model.measured import NotMeasured
from lowwater.sizing.pipeline import buffers_of

cases = {}

def samples(count):
    numbers = tf.data.Dataset.range(count)
    return numbers.map(lambda one: tf.fill((1 << 18,), tf.cast(one, tf.float32)))

def of(name, *data):
    cases[name] = [
        (one.stage, size.why if isinstance(size := one.size_bytes, NotMeasured) else size)
        for one in buffers_of(*data)
    ]

def in_use():
    return lowwater.memory()["host"]["in_use_bytes"]

def filled(dataset, count):
    before = in_use()
    iterator = iter(dataset)
    for _ in range(count):
        next(iterator)
    return in_use() - before

of("chain", samples(100).cache().shuffle(20).batch(8).prefetch(2))
of("larger than the data", samples(10).shuffle(1000))
of("unknown count", samples(10).filter(lambda one: one[0] > 3).cache())
of("autotuned", samples(10).prefetch(tf.data.AUTOTUNE))
ragged = tf.TensorSpec((None,), tf.float32)
generated = tf.data.Dataset.from_generator(lambda: iter([[1.0]]), output_signature=ragged)
of("unknown size", generated.shuffle(5))
of("in a file", samples(10).cache(sys.argv[1]))
of("together", tf.data.Dataset.zip(samples(4).cache(), samples(6).shuffle(3)))
of("arrays", np.zeros((1024, 256), "float32"), np.zeros((1024, 1), "float64"))
of("other data", iter([1, 2]))
next(iter(samples(200)))
cases["really cached"] = filled(samples(200).cache(), 199)
cases["really shuffled"] = filled(samples(300).shuffle(200), 1)
print(json.dumps(cases))
"""


@pytest.fixture(scope="module")
def cases(tmp_path_factory):
    """What is said of each pipeline, by name."""
    folder = tmp_path_factory.mktemp("pipelines")
    script = folder / "pipelines.py"
    script.write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, "-P", str(script), str(folder / "cache")],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_stages_are_named_from_the_last_to_the_first_with_what_they_keep(cases):
    assert cases["chain"] == [
        ["prefetch", 16 * MIB],
        ["shuffle(20)", 20 * MIB],
        ["cache()", 100 * MIB],
    ]


def test_buffer_larger_than_the_data_keeps_no_more_than_the_data(cases):
    assert cases["larger than the data"] == [["shuffle(1000)", 10 * MIB]]


def test_size_that_is_not_known_beforehand_says_why(cases):
    assert cases["unknown count"] == [["cache()", "its number of elements is not known"]]
    assert cases["autotuned"] == [["prefetch", "TensorFlow chooses its size while training"]]
    assert cases["unknown size"] == [
        ["shuffle(5)", "the size of its elements is not known in advance"]
    ]


def test_cache_in_a_file_keeps_nothing_in_memory(cases):
    assert cases["in a file"] == []


def test_pipelines_that_are_put_together_are_all_counted(cases):
    assert cases["together"] == [["cache()", 4 * MIB], ["shuffle(3)", 3 * MIB]]


def test_arrays_are_counted_with_their_targets(cases):
    assert cases["arrays"] == [["the arrays", MIB + 8192]]


def test_other_data_is_not_judged(cases):
    assert cases["other data"] == []


@pytest.mark.parametrize("case", ["really cached", "really shuffled"])
def test_full_buffer_holds_in_the_process_what_was_computed(cases, case):
    assert cases[case] == pytest.approx(200 * MIB, rel=0.05)
