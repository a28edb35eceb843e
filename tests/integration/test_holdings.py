"""Holdings of real frameworks on a machine without accelerators: all of it is the host's."""

import json

import pytest

pytestmark = pytest.mark.tensorflow

MIB = 1 << 20
TRAINS = """\
import gc, json, os, threading, weakref
import keras
import numpy as np
import tensorflow as tf
import lowwater

x = np.ones((64, 256), "float32")
y = np.ones((64, 1), "float32")

def trained():
    keras.utils.set_random_seed(3)
    model = keras.Sequential([keras.layers.Dense(1024), keras.layers.Dense(1)])
    model.compile("adam", "mse")
    model.fit(x, y, verbose=0)
    return model

model = trained()
twin = trained()
data = tf.data.Dataset.from_tensor_slices(np.ones((512, 512), "float32")).map(lambda row: row)
tensor = tf.ones((512, 512))
table = tf.Variable(tf.ones((256, 512)))
same = table
places = lowwater.memory()
found = lowwater.holdings()

twin.fit(x, y, verbose=0)
lowwater.holdings(), lowwater.memory()
twin.fit(x, y, verbose=0)
model.fit(x, y, verbose=0)
model.fit(x, y, verbose=0)
is_same = all((a == b).all() for a, b in zip(model.get_weights(), twin.get_weights()))

gone = weakref.ref(twin), weakref.ref(tensor)
kept = lowwater.holdings()
del tensor
is_tensor_gone = gone[1]() is None
del twin
gc.collect()
is_model_gone = gone[0]() is None
print(json.dumps([found.to_dict(), places, is_same, is_tensor_gone, is_model_gone]))
"""


def run(programs, text):
    programs.write("train.py", text)
    done = programs.plain("train.py")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_holders_of_tensorflow_are_named_nothing_changes_and_nothing_is_kept(programs):
    found, places, *is_well = run(programs, TRAINS)

    rows = {(row["kind"], row["held_by"]): row for row in found["rows"]}
    weights = 4 * (256 * 1024 + 1024 + 1024 + 1)
    assert is_well == [True, True, True]
    assert [*places] == ["host"]
    assert {row["place"] for row in found["rows"]} == {"host"}
    assert rows["model", "`model`"]["where"] == "train.py:17"
    assert rows["model", "`twin`"]["where"] == "train.py:18"
    for name in ("`model`", "`twin`"):
        assert rows["model", name]["count"] == 1
        assert weights <= rows["model", name]["size_bytes"] < weights + 256
        assert 2 * weights <= rows["optimizer", name]["size_bytes"] < 2 * weights + 256
    data = rows["data set", "`data`"]
    assert (data["size_bytes"], data["where"]) == (MIB, "train.py:19")
    assert rows["tensor", "`tensor`"]["size_bytes"] == MIB
    assert rows["variable", "`table`"]["size_bytes"] == MIB // 2
    assert ("variable", "`same`") not in rows


FORKED = """\
import json, os
import tensorflow as tf
import lowwater
tf.ones(3) + 1
reads, writes = os.pipe()
child = os.fork()
if child == 0:
    os.write(writes, json.dumps(lowwater.memory()["host"]["not_measured"]).encode())
    os._exit(0)
os.close(writes)
told = json.loads(open(reads).read())
os.waitpid(child, 0)
print(json.dumps([told, lowwater.memory()["host"]["not_measured"]]))
"""


def test_forked_child_of_tensorflow_is_given_the_reason(programs):
    in_child, in_parent = run(programs, FORKED)

    assert in_child["in_use_bytes"] == "this process was forked after TensorFlow started"
    assert "in_use_bytes" not in in_parent


JAX = """\
import json, sys
import jax
import lowwater
from lowwater.probes.jax_memory import jax_memory, memory_of
before = jax_memory().why, len(lowwater.memory())
is_started = bool(sys.modules["jax._src.xla_bridge"]._backends)
array = jax.numpy.ones((512, 512))
told = memory_of(jax.devices()[0])
rows = [row for row in lowwater.holdings().to_dict()["rows"] if row["held_by"] == "`array`"]
print(json.dumps([before, is_started, [*lowwater.memory()], told.in_use_bytes.why, rows]))
"""


def test_jax_on_the_cpu_is_the_host_and_has_no_statistics(with_jax, programs):
    before, is_started, places, why, [row] = run(programs, JAX)

    assert before == ["JAX has not run an operation yet", 1]
    assert not is_started
    assert places == ["host"]
    assert why == "JAX reports no memory statistics for this device"
    assert (row["kind"], row["place"], row["size_bytes"]) == ("array", "host", MIB)
    assert row["where"] == "train.py:7"
