"""Torch on a CPU. `slow`, as only the environment of `make bench` has torch: its wheel needs 4 GB.

A GPU is needed for the other half: that was never run.
"""

import json
import subprocess
import sys
import textwrap

import pytest

pytestmark = pytest.mark.slow


@pytest.fixture
def run(tmp_path):
    def run_script(source):
        script = tmp_path / "script.py"
        script.write_text(textwrap.dedent(source))
        done = subprocess.run(
            [sys.executable, str(script)], capture_output=True, text=True, check=False, timeout=900
        )
        assert done.returncode == 0, done.stderr
        assert "profiler" not in done.stderr
        return json.loads(done.stdout.splitlines()[-1])

    return run_script


def test_keras_model_on_torch(run):
    found = run(
        """\
        import json, os
        os.environ["KERAS_BACKEND"] = "torch"
        import keras
        import numpy as np
        import lowwater

        layers = keras.layers
        model = keras.Sequential(
            [layers.Input((256, 64)), layers.Dense(512, activation="tanh"), layers.Dense(1)]
        )
        model.compile("adam", "mse")
        x, y = np.ones((64, 256, 64), "float32"), np.ones((64, 256, 1), "float32")
        before = model.get_weights()
        found = lowwater.footprint(model, x, y, batch_size=32)
        print(json.dumps({
            "weights": found.fixed.weights_bytes,
            "train": found.at(32).peak_bytes,
            "predict": found.at(32, "inference").peak_bytes,
            "four": found.at(128).peak_bytes,
            "untouched": all((a == b).all() for a, b in zip(before, model.get_weights())),
        }))
        """
    )

    hidden = 256 * 512 * 4  # of one sample
    assert found["weights"] // 1000 == (64 * 512 + 512 + 512 + 1) * 4 // 1000
    # The activation for its gradient, and the gradient itself.
    assert 2 * 32 * hidden < found["train"] < 5 * 32 * hidden
    assert found["predict"] < found["train"]
    assert 3.5 < found["four"] / found["train"] < 4.1
    assert found["untouched"]


def test_step_function_of_torch(run):
    found = run(
        """\
        import json
        import torch
        import lowwater

        parts = torch.nn.Linear(64, 4096), torch.nn.Tanh(), torch.nn.Linear(4096, 1)
        model = torch.nn.Sequential(*parts)
        optimizer = torch.optim.Adam(model.parameters())

        def train_step(x, y):
            optimizer.zero_grad()
            ((model(x) - y) ** 2).mean().backward()
            optimizer.step()

        batch = torch.ones(512, 64), torch.ones(512, 1)
        subject = lowwater.sizing.footprint.subject_of(train_step, batch, None, None, None)
        plan = lowwater.sizing.measure.MeasuringPlan(batch_sizes=(512, 1024), kinds=())
        found = lowwater.sizing.footprint.found_in_child(subject, plan)
        peaks = [step.peak_bytes for step in found.steps]
        print(json.dumps([found.fixed.weights_bytes, found.fixed.optimizer_bytes, peaks,
                          found.fixed.gradients_bytes, model[0].weight.grad is None]))
        """.replace("import lowwater\n", "import lowwater, lowwater.sizing.footprint\n")
    )
    weights, optimizer, [small, large], gradients, untouched = found

    assert weights == (64 * 4096 + 4096 + 4096 + 1) * 4
    assert weights * 2 <= optimizer < weights * 2.1
    assert gradients > weights  # the optimizer works on copies
    # The activation before and after, or its gradient: 4096 numbers each.
    assert 2 * 512 * 4096 * 4 * 0.95 <= large - small <= 4 * 512 * 4096 * 4
    assert untouched
