"""`lowwater run --guard` on real programs, in real control groups and below real limits."""

import subprocess

import pytest

pytestmark = pytest.mark.tensorflow

GIB = 1 << 30
BEGIN = """\
import gc
import numpy as np
import keras

keras.utils.set_random_seed(7)
model = keras.Sequential([keras.Input((64,)), keras.layers.Dense(64), keras.layers.Dense(1)])
model.compile("adam", "mse")
x = np.random.default_rng(7).random((256, 64), "float32")

class Keeps(keras.callbacks.Callback):
    saved = []

    def on_epoch_end(self, epoch, logs=None):
        keep(self.saved, epoch)

def fit(epochs):
    history = model.fit(x, x[:, :1], epochs=epochs, verbose=0, callbacks=[Keeps()])
    return history.history["loss"]

def mib(size):
    return np.ones(size << 17)
"""
LEAKS = f"""\
{BEGIN}
def keep(saved, epoch):
    saved.append(mib(20))

losses = fit(200)
print(len(losses), len(fit(3)))
del Keeps.saved[:]
rescued = keras.models.load_model("lowwater-rescue.keras")
# The second `fit` has trained the model one batch further.
print(int(rescued.optimizer.iterations), rescued.evaluate(x, x[:, :1], verbose=0) < losses[0])
"""


@pytest.fixture
def a_small_disk(programs):
    """A folder where nothing fits."""
    folder = programs.folder / "small"
    folder.mkdir()
    mounting = ["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", str(folder)]
    done = subprocess.run(mounting, capture_output=True, check=False)
    if done.returncode != 0:
        pytest.skip("no small disk can be made here")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)  # noqa: S607


def test_run_that_leaks_in_a_control_group_is_saved(programs, a_control_group):
    programs.write("train.py", LEAKS)
    run = programs.watch("--guard", "train.py", first=a_control_group(GIB))

    guarded = run.report["guard"]
    epochs = guarded["epochs_completed"]
    assert (run.returncode, run.kind) == (6, "leak")
    assert run.stdout == f"{epochs} 1\n{8 * epochs} True\n"
    assert guarded["after"]["unit"] == "epoch"
    assert (guarded["limit"], guarded["limit_bytes"]) == ("control group", GIB)
    assert (guarded["saved"], guarded["problem"]) == (["lowwater-rescue.keras"], None)
    assert guarded["later_fits"] == 1
    # No more than two epochs before it was too late.
    assert guarded["left_bytes"] < (3 * 20 + 16) << 20
    assert "training ended before memory ran out; saved to lowwater-rescue" in run.stderr
    assert f"model.fit(..., initial_epoch={epochs})" in run.stderr


def test_jump_and_sawtooth_near_the_limit_are_left_alone_and_compute_the_same(
    programs, a_control_group
):
    """To 90 % at once, and back; then garbage that would fill the rest many times."""
    told = f"""\
{BEGIN}
gc.disable()

def keep(saved, epoch):
    if epoch == 6:
        saved.append(mib(int(0.9 * 1024) - USED))
    elif epoch == 18:
        saved.clear()
    elif epoch > 18:
        cycle = [mib(20)]
        cycle.append(cycle)

print([loss.hex() for loss in fit(52)])
"""
    # What a program with TensorFlow takes here, before it jumps.
    programs.write("train.py", told.replace("USED", "400"))
    plain = programs.plain("train.py")
    run = programs.watch("--guard", "train.py", first=a_control_group(GIB))

    assert (run.returncode, run.report["guard"]) == (0, None)
    assert run.stdout == plain.stdout
    assert not (programs.folder / "lowwater-rescue.keras").exists()


def test_leak_in_the_pool_of_tensors_is_ended_though_the_disk_is_full(programs, a_small_disk):
    programs.write(
        "train.py",
        f"""\
{BEGIN}
import tensorflow as tf

def keep(saved, epoch):
    saved.append(tf.ones((5 << 18,)))

print(len(fit(200)))
""",
    )
    pool = {"TF_CPU_ALLOCATOR_USE_BFC": "1", "TF_CPU_BFC_MEM_LIMIT_IN_MB": "100"}
    run = programs.watch("--guard", "../train.py", env=pool, cwd=a_small_disk)

    guarded = run.report["guard"]
    assert run.returncode == 6
    assert run.stdout == f"{guarded['epochs_completed']}\n"
    assert (guarded["place"], guarded["limit"]) == ("TensorFlow's host pool",) * 2
    assert (guarded["saved"], [*a_small_disk.iterdir()]) == ([], [])
    assert "No space left on device" in guarded["problem"]
    assert "Nothing was saved" in run.stderr


def test_leak_of_every_batch_is_ended_within_the_epoch(programs, a_control_group):
    programs.write(
        "train.py",
        f"""\
{BEGIN}
class KeepsBatches(keras.callbacks.Callback):
    saved = []

    def on_train_batch_end(self, batch, logs=None):
        self.saved.append(mib(2))

model.fit(x, x[:, :1], batch_size=1, epochs=4, verbose=0, callbacks=[KeepsBatches()])
print(int(model.optimizer.iterations))
""",
    )
    # As large an epoch as fits in: one of 256 batches, and half of the next.
    run = programs.watch("--guard", "train.py", first=a_control_group(GIB))

    guarded = run.report["guard"]
    assert (run.returncode, guarded["is_within_epoch"]) == (6, True)
    assert guarded["after"]["unit"] == "batch"
    assert run.stdout == f"{guarded['after']['rounds']}\n"
    assert guarded["epochs_completed"] == guarded["after"]["rounds"] // 256
