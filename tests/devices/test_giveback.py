"""What gives the memory of a device back: the articles' recipe, and what we do instead."""

import pytest

from hostgpu.programs import WITH_NVML, WITH_TENSORFLOW

pytestmark = pytest.mark.devices

MIB = 1 << 20
CONTEXT = 64 * MIB
BUILDS = (
    WITH_TENSORFLOW
    + """
import gc
import keras, numpy as np
import lowwater

x, y = np.ones((32, 64), "float32"), np.ones((32, 1), "float32")

def trained():
    model = keras.Sequential([
        keras.Input((64,)), keras.layers.Dense(1024), keras.layers.Dense(512),
        keras.layers.Dense(1),
    ])
    model.compile("adam", "mse", jit_compile=False)
    model.fit(x, y, verbose=0, batch_size=32)
    return model
"""
)


def test_recipe_of_the_articles_leaves_all_models_on_the_device(hostgpu, programs):
    text = f"""{BUILDS}
before = in_use()
for _ in range(4):
    model = trained()
full = in_use()
del model
gc.collect()
keras.backend.clear_session()
gc.collect()
answer(models=full - before, left=in_use() - before)
"""
    answered = programs.run(text, hostgpu(1024 * MIB).environment())

    assert answered["left"] > 0.9 * answered["models"]


WAYS = {
    "release": ("", "model = trained()\n    lowwater.release(model)\n    del model"),
    "release after del": ("", "model = trained()\n    del model\n    lowwater.release()"),
    "lifecycle": ("", "with lowwater.lifecycle():\n        trained()"),
    "mend": ("lowwater.mend()", "model = trained()\n    del model\n    gc.collect()"),
}


@pytest.mark.parametrize("way", WAYS)
def test_twenty_models_leave_the_device_as_it_was(hostgpu, programs, way):
    begin, body = WAYS[way]
    text = f"""{BUILDS}
{begin}
other = trained()  # keeps its place meanwhile
before = in_use()
for number in range(20):
    {body}
    gc.collect()
answer(before=before, after=in_use(), one=sum(4 * w.size for w in other.get_weights()))
"""
    answered = programs.run(text, hostgpu(1024 * MIB).environment())

    assert answered["before"] > answered["one"]  # the other model is there
    assert abs(answered["after"] - answered["before"]) <= 0.01 * answered["before"]


def test_live_model_on_the_same_device_trains_on_to_the_last_bit(hostgpu, programs):
    text = f"""{BUILDS}
def release():
    lowwater.release(trained_apart())

def lifecycle():
    with lowwater.lifecycle():
        trained_apart()

def drop():
    trained_apart()
    gc.collect()

def history(beside):
    keras.utils.set_random_seed(7)
    model = trained()
    losses = []
    for number in range(4):
        beside()
        losses += model.fit(x, y, verbose=0, batch_size=32, shuffle=False).history["loss"]
    return [loss.hex() for loss in losses]  # each other than the one before: it does train

def trained_apart():
    state = np.random.get_state()
    model = keras.Sequential([keras.Input((64,)), keras.layers.Dense(
        256, kernel_initializer="zeros"), keras.layers.Dense(1, kernel_initializer="zeros")])
    model.compile("sgd", "mse", jit_compile=False)
    model.fit(x, y, verbose=0, batch_size=32, shuffle=False)
    np.random.set_state(state)
    return model

alone, released, ended = history(lambda: None), history(release), history(lifecycle)
lowwater.mend()
answer(alone=alone, others=[released, ended, history(drop)])
"""
    answered = programs.run(text, hostgpu(1024 * MIB).environment())

    assert answered["others"] == [answered["alone"]] * 3
    assert len({*answered["alone"]}) == len(answered["alone"])


def test_receipt_has_a_section_for_the_device(hostgpu, programs):
    text = f"""{BUILDS}
model = trained()
receipt = lowwater.release(model, hollow=True)
[device] = receipt.devices
answer(
    text=str(receipt), html=receipt._repr_html_(), place=device.place,
    before=device.in_use_before_bytes, after=device.in_use_after_bytes,
    now=in_use(), driver=device.driver_after_bytes, others=device.others_bytes,
    counted=driver_used(),
)
"""
    machine = hostgpu(1024 * MIB, context_bytes=64 * MIB)

    with machine.neighbour(0, 50 * MIB):
        answered = programs.run(text, machine.environment())

    assert answered["place"] == "GPU:0"
    assert answered["after"] == answered["now"] < answered["before"] / 2
    assert answered["others"] == (50 + 64) * MIB
    assert answered["driver"] == answered["counted"] - answered["others"]
    assert "; other processes take 114.0 MiB" in answered["text"]
    line = "returned only when the process ends"
    assert any(
        one.startswith("GPU:0: in use") and line in one for one in answered["text"].splitlines()
    )
    assert "GPU:0: in use" in answered["html"]


TRIAL = f"""{WITH_NVML}
import os, signal
from dataclasses import asdict
import lowwater

@lowwater.isolated
def trial(size, dies=False):
    import tensorflow as tf
    tensor = tf.zeros(size // 4)
    if dies:
        os.kill(os.getpid(), signal.SIGKILL)
    return driver_used()

def told(outcome):
    driver = {{name: asdict(story) for name, story in outcome.memory.driver.items()}}
    return {{"text": str(outcome), "driver": driver, "error": type(outcome.error).__name__}}
"""


def test_isolated_call_proves_that_the_driver_has_the_device_back(hostgpu, programs):
    text = f"""{TRIAL}
[first, second] = [trial.run(64 << 20), trial.run(64 << 20, dies=True)]
[mapped] = lowwater.map(trial, [64 << 20], on_error="collect")
print(json.dumps({{
    "during": first.value, "first": told(first), "second": told(second),
    "latest": asdict(trial.memory)["driver"], "mapped": mapped, "at_last": driver_used(),
}}))
"""
    answered = programs.run(text, hostgpu(1024 * MIB, context_bytes=CONTEXT).environment())

    assert answered["during"] >= 64 * MIB + CONTEXT
    assert answered["mapped"] == answered["during"]
    free = {"free_before_bytes": 1024 * MIB, "free_after_bytes": 1024 * MIB}
    returned = {"taken_bytes": answered["during"], "left_bytes": 0, **free, "not_measured": {}}
    assert answered["first"]["driver"] == {"GPU 0": returned}
    assert answered["first"]["text"].endswith(" MiB of GPU 0 returned to the driver")
    killed = {"taken_bytes": "the function's process ended before it could ask"}
    assert answered["second"]["error"] == "ChildDied"
    assert answered["second"]["driver"] == {
        "GPU 0": {"taken_bytes": None, "left_bytes": 0, **free, "not_measured": killed}
    }
    assert answered["latest"] == answered["second"]["driver"]
    assert answered["second"]["text"].endswith("; nothing of GPU 0 is still taken")
    assert answered["at_last"] == 0


def test_driver_that_hides_the_trial_proves_nothing(hostgpu, programs):
    text = f"{TRIAL}\nprint(json.dumps(told(trial.run(64 << 20))))"
    machine = hostgpu(1024 * MIB)
    with machine.neighbour(0, 100 * MIB):
        answered = programs.run(text, machine.environment(nvml_faults=["no-processes"]))

    [story] = answered["driver"].values()
    assert (story["taken_bytes"], story["left_bytes"]) == (None, None)
    assert story["free_before_bytes"] == story["free_after_bytes"] == 924 * MIB
    assert set(story["not_measured"].values()) == {
        "the driver does not list the function's process"
    }
    assert "GPU" not in answered["text"]
