"""What gives the memory of a device back: the articles' recipe, and what we do instead."""

import pytest

from hostgpu.programs import WITH_NVML, WITH_TENSORFLOW

pytestmark = pytest.mark.devices

MIB = 1 << 20
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
levels = []
for number in range(21):
    {body}
    gc.collect()
    levels.append(in_use())
answer(levels=levels, one=sum(4 * w.size for w in other.get_weights()))
"""
    answered = programs.run(text, hostgpu(1024 * MIB).environment())

    first, *_, last = answered["levels"]
    assert first > answered["one"]  # the other model is there
    assert abs(last - first) <= 0.01 * first


def test_live_model_on_the_same_device_trains_on_to_the_last_bit(hostgpu, programs):
    text = f"""{BUILDS}
def history(give_back):
    keras.utils.set_random_seed(7)
    model = trained()
    losses = []
    for number in range(4):
        if give_back:
            passing = trained_apart()
            lowwater.release(passing)
            del passing
        losses += model.fit(x, y, verbose=0, batch_size=32, shuffle=False).history["loss"]
    return [loss.hex() for loss in losses]

def trained_apart():
    state = np.random.get_state()
    model = keras.Sequential([keras.Input((64,)), keras.layers.Dense(
        256, kernel_initializer="zeros"), keras.layers.Dense(1, kernel_initializer="zeros")])
    model.compile("sgd", "mse", jit_compile=False)
    model.fit(x, y, verbose=0, batch_size=32, shuffle=False)
    np.random.set_state(state)
    return model

answer(alone=history(False), beside=history(True))
"""
    answered = programs.run(text, hostgpu(1024 * MIB).environment())

    assert answered["alone"] == answered["beside"]


def test_receipt_has_a_section_for_the_device(hostgpu, programs):
    text = f"""{BUILDS}
model = trained()
receipt = lowwater.release(model, hollow=True)
[device] = receipt.devices
answer(
    text=str(receipt), html=receipt._repr_html_(), place=device.place,
    before=device.in_use_before_bytes, after=device.in_use_after_bytes,
    now=in_use(), driver=device.driver_after_bytes, counted=driver_used(),
)
"""
    machine = hostgpu(1024 * MIB, context_bytes=64 * MIB)

    answered = programs.run(text, machine.environment())

    assert answered["place"] == "GPU:0"
    assert answered["after"] == answered["now"] < answered["before"] / 2
    assert answered["driver"] == answered["counted"]
    line = "returned only when the process ends"
    assert any(
        one.startswith("GPU:0: in use") and line in one for one in answered["text"].splitlines()
    )
    assert "GPU:0: in use" in answered["html"]


def test_isolated_call_returns_the_device_to_the_driver_also_when_it_is_killed(hostgpu, programs):
    text = f"""{WITH_NVML}
import os, signal
import lowwater

@lowwater.isolated
def trial(size, dies=False):
    import tensorflow as tf
    tensor = tf.zeros(size // 4)
    if dies:
        os.kill(os.getpid(), signal.SIGKILL)
    return driver_used()

during = trial(64 << 20)
after = driver_used()
try:
    trial(64 << 20, dies=True)
except lowwater.errors.LowwaterError as error:
    died = type(error).__name__
print(json.dumps({{"during": during, "after": after, "died": died, "at_last": driver_used()}}))
"""
    answered = programs.run(text, hostgpu(1024 * MIB).environment())

    assert answered["during"] >= 64 * MIB
    assert (answered["after"], answered["at_last"]) == (0, 0)
    assert answered["died"] == "ChildDied"
