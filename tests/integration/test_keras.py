"""Keras is watched however it comes in, and trains to the same bit."""

import pytest

pytestmark = pytest.mark.tensorflow

TRAINS = """\
    import json
    {imports}
    import numpy as np
    keras.utils.set_random_seed(3)
    x = np.random.default_rng(0).random((256, 8)).astype("float32")
    y = x.sum(axis=1, keepdims=True)

    def build():
        model = keras.Sequential([keras.layers.Dense(16, activation="relu"), keras.layers.Dense(1)])
        model.compile("adam", "mse")
        return model

    model = build()
    kept = []
    class Keep(keras.callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            kept.append(np.ones(1_000_000, "float32"))
    history = model.fit(x, y, epochs=8, verbose=0, validation_data=(x, y), callbacks=[Keep()])
    for i in range(3):
        model.evaluate(x, y, verbose=0)
        model.predict(x, verbose=0)
        model.train_on_batch(x, y)
    print(json.dumps([float(v).hex() for v in history.history["loss"]]))
    print(json.dumps([float(v).hex() for w in model.get_weights() for v in w.ravel()]))
"""

WAYS_IN = {
    "keras": "import keras",
    "tensorflow first": "import tensorflow as tf\n    import keras",
    "tf.keras": "import tensorflow as tf\n    keras = tf.keras",
    "from tensorflow": "from tensorflow import keras",
    "in a function": "def get():\n        import keras\n        return keras\n    keras = get()",
}


@pytest.fixture(scope="module")
def trained_plainly(programs_in, tmp_path_factory):
    """What the training prints that nobody watches; it is the same whichever way Keras comes in."""
    programs = programs_in(tmp_path_factory.mktemp("plain"))
    programs.write("train.py", TRAINS.format(imports=WAYS_IN["keras"]))
    plain = programs.plain("train.py")
    assert plain.returncode == 0
    return plain.stdout


@pytest.mark.parametrize("way", WAYS_IN)
def test_training_is_the_same_to_the_last_bit(programs, way, trained_plainly):
    programs.write("train.py", TRAINS.format(imports=WAYS_IN[way]))

    watched = programs.watch("train.py")

    assert watched.returncode == 0
    assert watched.stdout == trained_plainly
    assert watched.unit("epoch")["verdict"]["units_seen"] == 8
    assert watched.kind == "leak"
    assert watched.timeline.collections  # it rose, so even a collection changed nothing
    seen = {unit.name: watched.timeline.of(unit)[-1].ordinal for unit in watched.timeline.units}
    assert seen["predict"] == seen["train_on_batch"] == 2
    assert seen["fit"] == seen["model"] == 0


@pytest.mark.tf_keras
def test_legacy_keras_trains_to_the_same_bit(programs):
    programs.write("train.py", TRAINS.format(imports="import tf_keras as keras"))

    plain = programs.plain("train.py")
    watched = programs.watch("train.py")

    assert watched.stdout == plain.stdout
    assert watched.unit("epoch")["verdict"]["units_seen"] == 8


def test_a_failure_inside_fit_has_the_same_traceback(programs):
    programs.write(
        "train.py",
        """\
        import keras, numpy as np
        class Fails(keras.callbacks.Callback):
            def on_epoch_end(self, epoch, logs=None):
                if epoch == 2:
                    raise ValueError("no luck")
        model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
        model.compile("sgd", "mse")
        model.fit(np.ones((8, 4)), np.ones((8, 1)), epochs=9, verbose=0, callbacks=[Fails()])
        """,
    )

    plain = programs.plain("train.py")
    watched = programs.watch("train.py")

    def own(stderr):
        return stderr[stderr.index("Traceback") : stderr.index("ValueError: no luck")]

    assert own(watched.stderr) == own(plain.stderr)
    assert watched.returncode == 1
    assert watched.report["ending"]["exit_code"] == 1


def test_a_data_set_with_worker_processes_is_watched_without_harm(programs):
    programs.write(
        "train.py",
        """\
        import keras, numpy as np

        class Batches(keras.utils.PyDataset):
            def __len__(self):
                return 4
            def __getitem__(self, i):
                total = 0
                for j in range(10):
                    total += len(str(j))
                return np.ones((8, 4), "float32"), np.ones((8, 1), "float32")

        if __name__ == "__main__":
            model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
            model.compile("sgd", "mse")
            data = Batches(workers=2, use_multiprocessing=True)
            model.fit(data, epochs=4, verbose=0)
            print("trained")
        """,
    )
    run = programs.watch("train.py")

    assert run.stdout == "trained\n"
    assert run.unit("epoch")["verdict"]["units_seen"] == 4


def test_models_and_sessions_are_counted_and_not_kept_alive(programs):
    programs.write(
        "train.py",
        """\
        import gc, weakref
        import keras
        import tensorflow as tf
        dead = []
        for i in range(5):
            model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
            weakref.finalize(model, dead.append, i)
            del model
            gc.collect()
        print("dead", len(dead))
        open_ones = [tf.compat.v1.Session(graph=tf.Graph()) for _ in range(3)]
        open_ones[0].close()
        for i in range(2):
            keras.utils.clear_session()
        """,
    )
    run = programs.watch("train.py")
    last = run.timeline.samples[-1].gauges
    seen = {unit.name: len(run.timeline.of(unit)) for unit in run.timeline.units}

    assert run.stdout == "dead 5\n"
    assert (last["models"], last["sessions"]) == (0, 2)
    assert (seen["model"], seen["session"], seen["clear_session"]) == (5, 3, 2)


def test_tensorflow_is_not_started_by_us(programs):
    programs.write(
        "train.py",
        """\
        import tensorflow as tf
        from tensorflow.python.eager import context
        for i in range(20):
            len(str(i))
        print(context._context is None or not context._context._initialized)
        tf.config.threading.set_inter_op_parallelism_threads(2)
        print("set")
        """,
    )

    assert programs.watch("train.py").stdout == "True\nset\n"


def test_every_patch_is_undone(programs):
    programs.write(
        "check.py",
        """\
        import gc, sys
        from lowwater.agent.agent import start
        from lowwater.model.assignment import Assignment
        import keras
        from keras.src.callbacks.callback_list import CallbackList
        from tensorflow.python.client import session
        import inspect
        functions = [CallbackList.on_epoch_end, keras.Model.__init__, session.BaseSession.close,
                     keras.utils.clear_session, keras.Model.fit, keras.Model.predict]
        def codes():
            return [inspect.unwrap(f).__code__ for f in functions]
        before = codes(), list(sys.meta_path), list(gc.callbacks)
        agent = start(Assignment("check.py", [], False, "run.lw"))
        during = codes()
        agent.uninstall()
        after = codes(), list(sys.meta_path), list(gc.callbacks)
        print([a is not b for a, b in zip(before[0], during)])
        print(all(a is b for a, b in zip(before[0], after[0])), before[1:] == after[1:])
        """,
    )

    assert programs.plain("check.py").stdout == f"{[True] * 6}\nTrue True\n"
