"""`lowwater.holdings()` explains what TensorFlow has in use on a GPU that is only host memory."""

import pytest

pytestmark = pytest.mark.devices

MIB = 1 << 20
# The line numbers are those of the file that the program is written to.
TRAINS = """\
import json
import keras
import numpy as np
import tensorflow as tf
import lowwater

x = np.ones((64, 512), "float32")
y = np.ones((64, 1), "float32")

def build(units):
    model = keras.Sequential([keras.layers.Dense(units), keras.layers.Dense(1)])
    model.compile("adam", "mse", jit_compile=False)
    return model

models = []
for units in (256, 512):
    models.append(build(units))
    models[-1].fit(x, y, verbose=0)

class Study:
    def __init__(self):
        self.best = build(1024)

study = Study()
study.best.fit(x, y, verbose=0)
with tf.device("GPU:0"):
    features = tf.zeros((1024, 256))
    table = tf.Variable(tf.zeros((512, 512)))
found = lowwater.holdings()
in_use = tf.config.experimental.get_memory_info("GPU:0")["current"]
print(json.dumps({"found": found.to_dict(), "text": str(found), "in_use": in_use}))
"""


@pytest.fixture
def told(hostgpu, programs):
    return programs.run_script(TRAINS, hostgpu(1024 * MIB).environment())


def test_bytes_in_use_on_the_gpu_are_explained_and_named(told):
    rows = [row for row in told["found"]["rows"] if row["place"] == "GPU:0"]
    by_holder = {(row["kind"], row["held_by"]): row for row in rows}

    assert told["found"]["schema"] == "lowwater.holdings/1"
    assert told["found"]["in_use_bytes"]["GPU:0"] == told["in_use"]
    rest = told["found"]["not_attributed_bytes"]["GPU:0"]
    assert rest == told["in_use"] - sum(row["size_bytes"] for row in rows)
    # A pool gives out a piece of up to twice the size if it has one: here for one tensor at most.
    assert 0 <= rest <= 4 * 512 * 1024 + 0.02 * told["in_use"]

    weights = 4 * (512 * 1024 + 1024 + 1024 + 1)
    best = by_holder["model", "`study.best`"]
    assert (best["count"], best["where"]) == (1, "train.py:22")
    assert weights <= best["size_bytes"] < weights + 64
    adam = by_holder["optimizer", "`study.best`"]
    # Two slots for each weight, and two numbers.
    assert 2 * weights <= adam["size_bytes"] < 2 * weights + 64
    assert by_holder["model", "`models`"]["count"] == 2
    assert by_holder["model", "`models`"]["where"] == "train.py:17"
    assert by_holder["tensor", "`features`"]["size_bytes"] == MIB
    assert by_holder["tensor", "`features`"]["where"] == "train.py:27"
    assert by_holder["variable", "`table`"]["size_bytes"] == MIB
    assert by_holder["variable", "`table`"]["where"] == "train.py:28"

    lines = told["text"].splitlines()
    assert max(map(len, lines)) <= 80
    assert any(line.startswith("not attributed") and "GPU:0" in line for line in lines)


FITS = """\
import json, threading
import keras
import numpy as np
import lowwater

class Loss(keras.callbacks.Callback):
    def __init__(self):
        super().__init__()
        self.losses = []
    def on_train_batch_end(self, batch, logs=None):
        self.losses.append(float(logs["loss"]))

def train(looks):
    keras.utils.set_random_seed(1)
    model = keras.Sequential([keras.layers.Dense(256, "relu"), keras.layers.Dense(1)])
    model.compile("adam", "mse", jit_compile=False)
    rows = np.random.default_rng(0)
    x, y = rows.normal(size=(512, 64)), rows.normal(size=(512, 1))
    loss = Loss()
    fit = threading.Thread(
        target=lambda: model.fit(x, y, epochs=6, verbose=0, shuffle=False, callbacks=[loss])
    )
    fit.start()
    seen = []
    while fit.is_alive():
        if looks:
            seen.append((lowwater.memory(), lowwater.holdings()))
        fit.join(0.2)
    return loss.losses, [one.tolist() for one in model.get_weights()], seen

first = train(looks=False)
second = train(looks=True)
kinds = {row.kind for _, one in second[2] for row in one.rows if row.place == "GPU:0"}
print(json.dumps([first[:2] == second[:2], len(second[2]), sorted(kinds)]))
"""


def test_training_is_the_same_to_the_bit_while_another_thread_asks(hostgpu, programs):
    is_same, looks, kinds = programs.run_script(FITS, hostgpu(512 * MIB).environment())

    assert is_same
    assert looks > 0
    assert {"model", "optimizer"} <= {*kinds}


LETS_GO = """\
import gc, json, weakref
import keras
import tensorflow as tf
import lowwater

def used():
    return tf.config.experimental.get_memory_info("GPU:0")["current"]

with tf.device("GPU:0"):
    tf.zeros(1)
before = used()
model = keras.Sequential([keras.Input((256,)), keras.layers.Dense(256)])
with tf.device("GPU:0"):
    tensor = tf.zeros((256, 1024))
gone = weakref.ref(model)
kept = lowwater.holdings(), lowwater.memory()
del tensor
after_tensor = used()
del model
unheld = lowwater.holdings()
gc.collect()
names = [row.held_by for row in unheld.rows if row.place == "GPU:0" and row.kind == "model"]
print(json.dumps([gone() is None, used() - before, names, [*unheld.notes]]))
"""


def test_nothing_is_kept_alive_and_what_waits_for_a_collection_is_told(hostgpu, programs):
    is_gone, left, names, notes = programs.run_script(LETS_GO, hostgpu(512 * MIB).environment())

    assert is_gone
    assert left < 4096
    assert names in (["no holder found"], [])
    assert bool(names) == any("garbage collection" in note for note in notes)
