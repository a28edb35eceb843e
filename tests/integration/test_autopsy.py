"""A run that ends for want of memory says why: in a control group, below a limit, in the pool."""

import os
import sys
from pathlib import Path

import pytest

MIB = 1 << 20


def autopsy(run):
    assert run.report is not None, run.stderr
    return run.report["autopsy"]


# The last work is larger than that of all rounds before; the others are of one size.
LEAKS = """
import time
import numpy as np

kept = []
for epoch in range(100):
    work = np.ones(20 << 20, "uint8")
    kept.append(np.ones(20 << 20, "uint8"))
    time.sleep(0.05)
"""
GROWS_AT_ONCE = """
import time
import numpy as np

for epoch in range(20):
    work = np.ones((50 if epoch < 12 else 2000) << 20, "uint8")
    del work
    time.sleep(0.05)
"""
IN_PIECES = """
import random

random.seed(2)
kept = []
for number in range(80):
    texts = [bytes(random.randrange(1500 * (number + 1), 1500 * (number + 3))) for _ in range(3500)]
    kept.append(texts[-random.randrange(1, 400)])
    del texts
"""


@pytest.mark.parametrize(
    ("text", "limit_mib", "manner"),
    [(LEAKS, 500, "leak"), (GROWS_AT_ONCE, 500, "too big"), (IN_PIECES, 260, "fragmented")],
    ids=["leak", "too-big", "fragmented"],
)
def test_program_that_a_control_group_kills(programs, a_control_group, text, limit_mib, manner):
    programs.write("train.py", text)
    join = a_control_group(limit_mib * MIB)

    run = programs.watch("train.py", first=join)

    found = autopsy(run)
    assert run.returncode == 137
    assert found["manner"] == manner, found["because"]
    assert found["limit_bytes"] == limit_mib * MIB
    assert found["limit_name"] == "the control group"
    assert f"Out of memory: {manner}" in run.stderr


BELOW_A_LIMIT = """
import resource
import numpy as np

resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))

def load():
    kept = np.ones((64, 1024, 1024), "uint8")
    return np.ones((8, 1024, 1024, 1024), "uint8")

load()
"""


def test_memory_error_of_numpy_below_a_limit_names_line_size_and_holder(programs):
    programs.write("train.py", BELOW_A_LIMIT)
    plain = programs.plain("train.py")

    run = programs.watch("train.py")

    found = autopsy(run)
    assert (run.returncode, found["manner"]) == (1, "too big")
    assert found["request"]["size_bytes"] == 8 << 30
    assert found["request"]["where"] == "train.py:9"
    assert found["limit_bytes"] == 3 << 30
    [kept] = [one for one in found["held"] if one["held_by"] == "`kept`"]
    assert (kept["size_bytes"], kept["where"]) == (64 * MIB, "train.py:8")
    # Nothing of what the program says has changed.
    assert plain.stderr in run.stderr


def test_program_that_fails_for_another_reason_has_none(programs):
    programs.write("train.py", "raise ValueError('no memory of this')")

    run = programs.watch("train.py")

    assert run.returncode == 1
    assert autopsy(run) is None
    assert "Out of memory" not in run.stderr


def test_diagnose_says_why_memory_ran_out(programs):
    programs.write("train.py", BELOW_A_LIMIT)

    done = programs.lowwater("diagnose", "--yes", "train.py")

    said = done.stdout + done.stderr
    assert "Out of memory: too big" in said
    assert "No diagnosis" not in said


POOL = {"TF_CPU_ALLOCATOR_USE_BFC": "1", "TF_CPU_BFC_MEM_LIMIT_IN_MB": "100"}
# Each failure takes ten seconds: so long TensorFlow waits for others to free some.
FILLS_POOL = """
import tensorflow as tf

kept = []
for number in range(200):
    kept.append(tf.ones((1024, 1024)) * number)
"""
STEP_FILLS_POOL = """
import numpy as np, keras, os

assert "TF_BFC_MEMORY_DUMP" not in os.environ

def main():
    model = keras.Sequential([keras.Input((256,)), keras.layers.Dense(4096, "relu"),
                              keras.layers.Dense(512), keras.layers.Dense(1)])
    model.compile("adam", "mse")
    x, y = np.ones((4096, 256), "float32"), np.ones((4096, 1), "float32")
    model.fit(x, y, batch_size=2048, verbose=0)

main()
"""
CUTS_POOL_TO_PIECES = """
import tensorflow as tf

try:
    tf.ones((40, 1024, 1024))
except tf.errors.ResourceExhaustedError:
    print("went on")
blocks = [tf.ones((512, 1024)) * number for number in range(40)]
blocks = blocks[::2]
tf.ones((10, 1024, 1024))
"""


@pytest.mark.tensorflow
def test_pool_that_a_list_of_tensors_fills(programs):
    programs.write("train.py", FILLS_POOL)

    run = programs.watch("train.py", env=POOL)

    found, verdict = autopsy(run), run.report["verdict"]
    assert found["manner"] == "leak", found["because"]
    # The pool's last region is no power of two: the verdict knows it as well.
    assert verdict["kind"] == "leak", verdict["because"]
    assert verdict["growth_bytes_per_unit"] == pytest.approx(4 * MIB, rel=0.1)
    assert found["request"]["size_bytes"] == 4 * MIB
    assert found["request"]["where"] == "train.py:6"
    assert found["held"][0]["held_by"] == "`kept`"
    assert found["limit_bytes"] == 100 * MIB


@pytest.mark.tensorflow
def test_pool_that_one_step_fills(programs):
    programs.write("train.py", STEP_FILLS_POOL)

    run = programs.watch("train.py", env=POOL)

    found = autopsy(run)
    assert found["manner"] == "too big", found["because"]
    assert found["request"]["where"] == "train.py:11"
    assert (found["request"]["call"], found["batch_size"]) == ("fit", 2048)
    assert found["kept_bytes"] < found["in_use_bytes"] <= 100 * MIB
    assert {"model", "optimizer"} <= {one["kind"] for one in found["held"]}
    assert 'lowwater footprint --limit "100.0 MiB" train.py' in run.stderr


@pytest.mark.tensorflow
def test_pool_that_is_cut_to_pieces_and_an_error_that_was_caught(programs):
    programs.write("train.py", CUTS_POOL_TO_PIECES)

    run = programs.watch("train.py", env=POOL)

    found = autopsy(run)
    assert found["manner"] == "fragmented", found["because"]
    assert found["pool"]["largest_free_bytes"] < found["request"]["size_bytes"]
    assert found["request"]["size_bytes"] <= found["pool"]["free_bytes"]
    [note] = [one for one in run.report["notes"] if "caught" in one]
    assert "an out-of-memory error from TensorFlow and continued at train.py:5" in note
    assert not [*Path(programs.folder).glob("*.pool")]


@pytest.mark.tensorflow
def test_placement_into_the_errors_is_undone(programs):
    programs.write("train.py", UNDONE)

    assert programs.plain("train.py").stdout.split() == ["True", "True"], sys.version


UNDONE = f"""
import sys
sys.path.insert(0, {os.path.dirname(os.path.dirname(os.path.dirname(__file__)))!r} + "/src")
from contextlib import ExitStack
from tensorflow.python.framework import errors_impl
from lowwater.agent.instrumentation._placement import place_all
from lowwater.agent.instrumentation.shortages import Shortages
from lowwater.agent.journal import Journal
from lowwater.recording.writer import Writer

before = errors_impl.ResourceExhaustedError.__init__.__code__
shortages = Shortages(Journal(Writer("run.lw")), "run.lw", str)
with ExitStack() as undo:
    place_all(errors_impl, shortages.placements, undo, print)
    try:
        raise errors_impl.ResourceExhaustedError(None, None, "OOM when …")
    except errors_impl.ResourceExhaustedError:
        print(shortages.count == 1)
shortages.remove()
print(errors_impl.ResourceExhaustedError.__init__.__code__ is before)
"""
