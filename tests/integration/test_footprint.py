"""Real training steps: measured in a fresh child, or at the first `fit` of a script."""

import json
import os
import subprocess
import sys
import textwrap

import jsonschema
import pytest

from lowwater.report.footprint_json import schema

pytestmark = pytest.mark.tensorflow

MIB = 1 << 20


@pytest.fixture
def program(tmp_path):
    """Writes a program, and runs it or `lowwater footprint` with it."""

    def run(source, *options, command=(), status=0):
        script = tmp_path / "train.py"
        script.write_text(textwrap.dedent(source))
        done = subprocess.run(
            [sys.executable, *command, *options, str(script)],
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
            cwd=tmp_path,
            env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
        )
        assert done.returncode == status, done.stderr
        return done

    return run


FOOTPRINT = ("-m", "lowwater", "footprint")
# Wide inputs and a narrow net: the peak is known, and small.
BUILD = """\
    import json, os
    import numpy as np
    import keras
    import lowwater

    x, y = np.ones((64, 1000), "float32"), np.zeros((64, 1), "float32")

    def build():
        keras.utils.set_random_seed(1)
        layers = [keras.layers.Dense(1000, activation="relu") for _ in range(3)]
        model = keras.Sequential([keras.Input((1000,)), *layers, keras.layers.Dense(1)])
        model.compile("sgd", "mse")
        return model
"""


def test_footprint_and_largest_batch_leave_the_caller_alone(program):
    done = program(
        BUILD
        + """
    if __name__ == "__main__":
        model = build()
        environment = dict(os.environ)
        weights = [one.copy() for one in model.get_weights()]
        state = np.random.get_state()[1].tolist()
        found = lowwater.footprint(model, {"x": x}["x"], y, batch_size=64)
        largest = lowwater.largest_batch(model, x, y, limit="80 MiB")
        same = all((a == b).all() for a, b in zip(weights, model.get_weights()))
        print(found)
        print(json.dumps({
            "peak": found.peak_bytes,
            "interval": found.interval_bytes,
            "parts": {part.name: part.size_bytes for part in found.parts},
            "kinds": [str(kind) for kind in found.curves],
            "largest": largest,
            "confirmed": largest.is_confirmed,
            "how": found.at(largest).because,
            "untouched": same and environment == dict(os.environ)
                and state == np.random.get_state()[1].tolist()
                and int(model.optimizer.iterations) == 0,
        }))
    """
    )
    told = json.loads(done.stdout.splitlines()[-1])

    assert told["untouched"]
    assert told["kinds"] == ["training", "evaluation", "inference"]
    # 3 million weights, and for a while as many gradients.
    assert told["parts"]["weights"] == 3_004_001 * 4
    assert sum(told["parts"].values()) == told["peak"]
    assert 1.5 * 12 * MIB < told["peak"] < 60 * MIB
    assert told["confirmed"]
    assert told["largest"] > 500
    # TensorFlow's profiler has told every allocation.
    assert told["how"] == "predicted allocation by allocation"
    assert "Peak of one training step on CPU:0" in done.stdout


def test_script_is_measured_at_its_first_fit_and_goes_no_further(program, tmp_path):
    done = program(
        """
        import numpy as np, keras
        from keras import layers

        class Loud(keras.callbacks.Callback):
            def on_train_batch_begin(self, *_):
                print("a callback of the script ran")

        class Net(keras.Model):
            def __init__(self, file):
                super().__init__()
                self.a, self.b = layers.Dense(300), layers.Dense(1)
                self.file = file

            def call(self, inputs):
                return self.b(self.a(inputs["left"]) + inputs["right"])

            def train_step(self, data):
                return super().train_step(data)

        def batches():
            while True:
                x = {"left": np.ones((16, 500), "float32"), "right": np.ones((16, 300), "float32")}
                yield x, np.zeros((16, 1), "float32"), np.ones(16, "float32")

        print("before")
        model = Net(open(__file__))
        model.compile("adam", "mse")
        model.fit(batches(), steps_per_epoch=5, callbacks=[Loud()])
        print("AFTER")
        open("left.txt", "w")
        """,
        *("--limit", "64 MiB", "--json", "out.json", "--need-batch", "10000000"),
        command=FOOTPRINT,
        status=4,
    )
    told = json.loads((tmp_path / "out.json").read_text())

    jsonschema.validate(told, schema())
    assert done.stdout.startswith("before\n")
    assert "AFTER" not in done.stdout
    assert "a callback of the script ran" not in done.stdout
    assert sorted(os.listdir(tmp_path)) == ["out.json", "train.py"]
    assert told["script"]["where"] == "train.py:29"
    assert told["batch_size"] == 16
    assert 150_300 * 4 <= told["parts"][0]["size_bytes"] < 152_000 * 4
    # It cannot be made again without its file, so it is not sent to a process under the limit.
    assert "the model cannot be sent" in told["largest_batch"]["because"]
    assert told["need"]["fits"] is False
    assert "a batch of 10000000 does not fit 64.0 MiB" in done.stderr


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        pytest.param("model = keras.Sequential([])", "the model is not compiled", id="compile"),
        pytest.param("x = np.ones((64, 7), 'float32')", "the model fails in a tra", id="fails"),
        pytest.param("x, y = x[:0], y[:0]", "there is no data to build a batch from", id="empty"),
    ],
)
def test_bad_input_is_one_sentence(program, change, sentence):
    done = program(
        f"{BUILD}\n    model = build()\n    {change}\n    model.fit(x, y)\n",
        command=FOOTPRINT,
        status=2,
    )
    [line] = [line for line in done.stderr.splitlines() if line.startswith("error:")]

    assert sentence in line
    assert "Traceback" not in done.stderr
