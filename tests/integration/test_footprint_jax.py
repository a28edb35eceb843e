"""Keras on JAX: the program that `fit` compiles, and what it takes beside its plan."""

import json
import subprocess
import sys
import textwrap

import pytest

pytestmark = pytest.mark.tensorflow


def test_model_on_jax(with_jax, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent(
            """\
            import json, os
            os.environ["KERAS_BACKEND"] = "jax"
            import keras
            import numpy as np
            import lowwater

            layers = keras.layers
            model = keras.Sequential(
                [layers.Input((256, 64)), layers.Dense(512, activation="tanh"), layers.Dense(1)]
            )
            model.compile("adam", "mse")
            x, y = np.ones((64, 256, 64)), np.ones((64, 256, 1), "float32")
            before = model.get_weights()
            found = lowwater.footprint(model, x, y, batch_size=32)
            same = all((a == b).all() for a, b in zip(before, model.get_weights()))
            eager = keras.models.clone_model(model)
            eager.compile("adam", "mse", run_eagerly=True)
            try:
                lowwater.footprint(eager, x, y, batch_size=32)
                refused = ""
            except lowwater.errors.UserError as error:
                refused = str(error)
            print(json.dumps({
                "weights": found.fixed.weights_bytes,
                "optimizer": found.fixed.optimizer_bytes,
                "train": found.at(32).peak_bytes,
                "evaluate": found.at(32, "evaluation").peak_bytes,
                "predict": found.at(32, "inference").peak_bytes,
                "four": found.at(128).peak_bytes,
                "untouched": same and not model.optimizer.iterations.value,
                "refused": refused,
            }))
            """
        )
    )
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, check=False, timeout=600
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])

    hidden = 256 * 512 * 4  # of one sample
    assert found["weights"] // 1000 == (64 * 512 + 512 + 512 + 1) * 4 // 1000
    assert 2 <= found["optimizer"] / found["weights"] < 2.1  # of Adam
    # Inputs and at least the one activation that the gradient needs.
    assert found["train"] > 32 * (256 * 64 * 4 + hidden)
    # What they take beside the plan is measured, so two steps that need the same differ by some KB.
    assert found["train"] > found["evaluate"] >= found["predict"] - 64 * 1024
    assert 3.5 < found["four"] / found["train"] < 4.1
    assert found["untouched"]
    assert "the model runs without jit, so JAX has no compiled step to measure" in found["refused"]
