"""Real models in fresh processes: they start with the framework imported, and not yet used."""

import json
import subprocess
import sys
import textwrap

import pytest

pytestmark = pytest.mark.tensorflow


@pytest.fixture
def run(tmp_path):
    """Run a script, and give back what it printed last, as JSON."""

    def run_script(source, *, status=0):
        script = tmp_path / "script.py"
        script.write_text(textwrap.dedent(source))
        done = subprocess.run(
            [sys.executable, str(script)],
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
            cwd=tmp_path,
        )
        assert done.returncode == status, done.stderr
        return json.loads(done.stdout.splitlines()[-1])

    return run_script


BUILD = """\
            import json, sys
            import numpy as np
            import keras
            import lowwater

            x, y = np.ones((32, 4), "float32"), np.zeros((32, 1), "float32")

            def build():
                model = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(1)])
                model.compile("adam", "mse")
                return model
"""


def test_child_starts_with_the_framework_imported_and_nothing_begun(run):
    seen = run(
        BUILD
        + """
            @lowwater.isolated
            def looks():
                context = sys.modules["tensorflow.python.eager.context"]
                import os
                return bool(context._context and context._context._initialized), os.getpid()

            outcome = looks.run()
            here = sys.modules["tensorflow.python.eager.context"]
            print(json.dumps({
                "begun": outcome.value[0],
                "started": outcome.started,
                "begun here": bool(here._context and here._context._initialized),
            }))
        """
    )

    assert seen == {"begun": False, "started": "fork", "begun here": False}


def test_trained_model_comes_back_and_predicts_the_same(run):
    seen = run(
        BUILD
        + """
            @lowwater.isolated
            def trained():
                model = build()
                model.fit(x, y, verbose=0)
                return model, model.predict(x, verbose=0)

            model, there = trained()
            here = model.predict(x, verbose=0)
            model.fit(x, y, verbose=0)
            print(json.dumps([bool((here == there).all()), type(model).__name__]))
        """
    )

    assert seen == [True, "Sequential"]


def test_model_class_of_the_script_comes_back(run):
    seen = run(
        BUILD
        + """
            class Net(keras.Model):
                def __init__(self, units, **options):
                    super().__init__(**options)
                    self.units = units
                    self.dense = keras.layers.Dense(units)
                def call(self, inputs):
                    return self.dense(inputs)
                def get_config(self):
                    return {"units": self.units}

            @lowwater.isolated
            def trained():
                model = Net(3)
                return model, model(x).numpy()

            model, there = trained()
            same = bool((model(x).numpy() == there).all())
            print(json.dumps([same, isinstance(model, Net)]))
        """
    )

    assert seen == [True, True]


def test_history_comes_back(run):
    seen = run(
        BUILD
        + """
            history = lowwater.isolated(lambda: build().fit(x, y, epochs=2, verbose=0))()
            print(json.dumps([len(history.history["loss"]), history.epoch]))
        """
    )

    assert seen == [2, [0, 1]]


def test_function_of_a_script_is_traced_with_its_source(run):
    seen = run(
        """\
            import json
            import tensorflow as tf
            import lowwater

            @tf.function
            def clipped(value):
                if value > 1.0:  # needs AutoGraph, which needs the source
                    value = tf.constant(1.0)
                return value

            @lowwater.isolated
            def trial():
                return float(clipped(tf.constant(3.0)))

            print(json.dumps(trial()))
        """
    )

    assert seen == 1.0


def test_training_gives_the_losses_of_a_plain_process(run):
    source = """
            def losses():
                keras.utils.set_random_seed(3)
                return build().fit(x, y, epochs=3, verbose=0).history["loss"]
    """

    there = run(BUILD + source + "\n            print(json.dumps(lowwater.isolated(losses)()))\n")
    plain = run(BUILD + source + "\n            print(json.dumps(losses()))\n")

    assert there == plain


def test_caller_keeps_nothing_of_its_trials(run):
    grown = run(
        BUILD
        + """
            import psutil
            from lowwater.probes.levels import levels_now

            @lowwater.isolated
            def trial():
                return build().fit(x, y, verbose=0).history["loss"][-1]

            outcomes = [trial.run() for _ in range(2)]
            before = levels_now().in_use_bytes
            for _ in range(5):
                trial()
            grown = levels_now().in_use_bytes - before
            print(json.dumps([grown, trial.memory.parent_grown_bytes, trial.memory.peak_bytes]))
        """
    )

    assert grown[0] < 500_000
    assert grown[1] < 500_000
    assert grown[2] > 100_000_000


def test_import_that_begins_the_framework_is_told_and_every_child_starts_anew(run):
    seen = run(
        """\
            import json, pathlib, warnings
            pathlib.Path("eager_module.py").write_text(
                "import tensorflow as tf\\nvalue = float(tf.constant(1.0) + 1.0)\\n"
            )
            import lowwater

            trial = lowwater.isolated(lambda: 5, preload=["eager_module"])
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                outcome = trial.run()
            print(json.dumps([outcome.value, outcome.started, [str(one.message) for one in told]]))
        """
    )

    assert seen[0] == 5
    assert seen[1] == "spawn: importing already started TensorFlow"
    assert "each one imports the framework again" in seen[2][0]


def test_framework_that_is_imported_later_gets_a_new_server(run):
    seen = run(
        """\
            import json, sys, lowwater
            trial = lowwater.isolated(lambda: "keras" in sys.modules)
            before = trial()
            import keras
            print(json.dumps([before, trial()]))
        """
    )

    assert seen == [False, True]


def test_backend_is_the_callers(with_jax, run):
    seen = run(
        """\
            import json, os
            os.environ["KERAS_BACKEND"] = "jax"
            import keras, lowwater
            print(json.dumps(lowwater.isolated(lambda: keras.backend.backend())()))
        """
    )

    assert seen == "jax"


def test_framework_that_only_the_function_imports_is_there_for_the_next_call(run):
    seen = run(
        """\
            import json, sys, lowwater

            @lowwater.isolated
            def trial():
                before = "tensorflow" in sys.modules
                import tensorflow
                return before

            print(json.dumps([trial(), trial(), "tensorflow" in sys.modules]))
        """
    )

    assert seen == [False, True, False]


def test_function_that_sets_up_its_framework_itself_imports_it_every_time(with_jax, run):
    seen = run(
        """\
            import json, os, sys, lowwater

            @lowwater.isolated
            def trial(backend):
                os.environ["KERAS_BACKEND"] = backend
                import keras
                return keras.backend.backend()

            print(json.dumps([trial("tensorflow"), trial("jax")]))
        """
    )

    assert seen == ["tensorflow", "jax"]


@pytest.mark.tf_keras
def test_model_of_tf_keras_comes_back(run):
    seen = run(
        """\
            import json
            import numpy as np
            import tf_keras
            import lowwater

            x, y = np.ones((32, 4), "float32"), np.zeros((32, 1), "float32")

            @lowwater.isolated
            def trained():
                model = tf_keras.Sequential([tf_keras.layers.Dense(1, input_shape=(4,))])
                model.compile("adam", "mse")
                model.fit(x, y, verbose=0)
                return model, model.predict(x, verbose=0)

            model, there = trained()
            print(json.dumps(bool(np.allclose(model.predict(x, verbose=0), there))))
        """
    )

    assert seen is True


def test_activation_of_the_script_comes_back_with_its_model(run):
    seen = run(
        BUILD
        + """
            def halved(value):
                return value / 2

            @lowwater.isolated
            def trained():
                model = keras.Sequential([keras.layers.Dense(2, activation=halved)])
                return model, model(x).numpy()

            model, there = trained()
            print(json.dumps(bool((model(x).numpy() == there).all())))
        """
    )

    assert seen is True


@pytest.mark.slow
def test_two_hundred_trained_models_leave_nothing_in_the_caller(run):
    grown, files, below, zombies = run(
        BUILD
        + """
            import psutil
            from lowwater.probes.levels import levels_now

            @lowwater.isolated
            def trial():
                return build().fit(x, y, verbose=0).history["loss"][-1]

            me = psutil.Process()
            for _ in range(3):
                trial()
            before, files = levels_now().in_use_bytes, me.num_fds()
            for _ in range(200):
                trial()
            below = [one.status() for one in me.children(recursive=True)]
            grown = levels_now().in_use_bytes - before
            print(json.dumps([grown, me.num_fds() - files, len(below), below.count("zombie")]))
        """
    )

    assert grown < 2_000_000
    assert (files, below, zombies) == (0, 2, 0)  # the server with its keeper


def test_registered_layer_of_the_script_can_be_loaded_in_the_child(run):
    seen = run(
        BUILD
        + """
            @keras.saving.register_keras_serializable("Mine")
            class Halved(keras.layers.Layer):
                def call(self, inputs):
                    return inputs / 2

            keras.Sequential([keras.layers.Input((4,)), Halved()]).save("halved.keras")

            @lowwater.isolated
            def trial():
                model = keras.models.load_model("halved.keras")
                model.save("again.keras")
                return float(keras.models.load_model("again.keras")(x)[0, 0])

            print(json.dumps(trial()))
        """
    )

    assert seen == 0.5
