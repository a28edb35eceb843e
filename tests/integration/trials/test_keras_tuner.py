"""A search whose trials run in fresh processes is the search that it would have been without."""

import json
import os
import subprocess
import sys
import textwrap

import pytest

pytestmark = pytest.mark.trials

BUILD = """\
import json, os, sys, time
import numpy as np
import keras
import keras_tuner
import lowwater

rng = np.random.default_rng(3)
x = rng.normal(size=(64, 4)).astype("float32")
y = x.sum(axis=1, keepdims=True)

def build(hp):
    keras.utils.set_random_seed(5)
    layers = [keras.layers.Input((4,)), keras.layers.Dense(hp.Int("units", 2, 16))]
    if hp.Choice("depth", [1, 2, 3]) > 1:  # so this one is met only when it is tried
        layers.append(keras.layers.Dense(hp.Int("more", 2, 8)))
    model = keras.Sequential([*layers, keras.layers.Dense(1)])
    rate = hp.Float("rate", 1e-3, 1e-1, sampling="log")
    # Eagerly: such small ones take longer to trace than to train.
    model.compile(keras.optimizers.Adam(rate), "mse", run_eagerly=True)
    return model

def story(tuner):
    "All that a user may ask of a tuner after its search."
    trials = [tuner.oracle.trials[name] for name in tuner.oracle.start_order]
    [best] = tuner.get_best_models()
    return {
        "trials": [one.get_state() | {"message": None} for one in trials],
        "ended": tuner.oracle.end_order,
        "space": [hp.name for hp in tuner.oracle.get_space().space],
        "best": tuner.get_best_hyperparameters()[0].values,
        "predicted": best.predict(x[:4], verbose=0).tolist(),
        "files": sorted(
            os.path.relpath(os.path.join(folder, name), tuner.project_dir)
            for folder, _, names in os.walk(tuner.project_dir) for name in names
        ),
    }

def both(make, **fit):
    "The story of the search without, and with fresh processes."
    plain, apart = make("plain"), make("apart")
    assert lowwater.isolated(apart, memory="8 GiB") is apart
    for tuner in (plain, apart):
        tuner.search(x, y, validation_data=(x, y), batch_size=64, verbose=0, **fit)
    assert apart.run_trial.memory.peak_bytes > 0
    return [story(plain), story(apart)]
"""


@pytest.fixture
def run(tmp_path):
    """Run a script, and give back what it printed last, as JSON."""

    def run_script(source):
        script = tmp_path / "script.py"
        script.write_text(BUILD + textwrap.dedent(source))
        done = subprocess.run(
            [sys.executable, str(script)],
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
            cwd=tmp_path,
            env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout.splitlines()[-1])

    return run_script


def test_random_search_is_the_same_search_and_goes_on_where_it_was(run):
    (plain, apart), resumed = run("""
        def make(name, max_trials=3):
            return keras_tuner.RandomSearch(
                build, objective="val_loss", max_trials=max_trials, executions_per_trial=2,
                seed=7, directory="searches", project_name=name,
            )

        stories = both(make, epochs=2)
        again = lowwater.isolated(make("apart", max_trials=4))
        already = [*again.oracle.end_order]
        again.search(x, y, validation_data=(x, y), verbose=0)
        print(json.dumps([stories, [already, again.oracle.end_order]]))
    """)

    assert apart == plain
    assert len(plain["trials"]) == 3
    assert {"units", "depth", "rate", "more"} == {*plain["space"]}
    assert resumed == [["0", "1", "2"], ["0", "1", "2", "3"]]


def test_hyperband_goes_on_from_the_checkpoints_of_its_trials(run):
    plain, apart = run("""
        def make(name):
            # Known from the start: the library would fill it in later without the seed.
            known = keras_tuner.HyperParameters()
            known.Int("more", 2, 8)
            return keras_tuner.Hyperband(
                build, objective="val_loss", max_epochs=2, factor=2, seed=7,
                hyperparameters=known, directory="searches", project_name=name,
            )

        print(json.dumps(both(make)))
    """)

    assert apart == plain
    values = [one["hyperparameters"]["values"] for one in plain["trials"]]
    assert any("tuner/trial_id" in one for one in values), "none went on, so nothing is proved"


def test_trials_that_fail_are_failed_trials(run):
    seen = run("""
        class Model(keras_tuner.HyperModel):
            def build(self, hp):
                return build(keras_tuner.HyperParameters())

            def fit(self, hp, model, *args, **kwargs):
                way = hp.Choice("way", ["raise", "fail", "fine", "die", "memory"])
                if way == "raise":
                    raise ValueError("odd")
                if way == "fail":
                    raise keras_tuner.errors.FailedTrialError("cannot be")
                if way == "die":
                    os.abort()
                if way == "memory":
                    return float(np.ones(3 << 30, dtype="uint8").sum())
                return super().fit(hp, model, *args, **kwargs).history["loss"][-1]

        # The way is met for the first time in a child.
        tuner = lowwater.isolated(
            keras_tuner.GridSearch(
                Model(), directory="searches", max_trials=9, max_consecutive_failed_trials=9
            ),
            memory="2 GiB",
        )
        tuner.search(x, y, verbose=0)
        print(json.dumps([
            [one.hyperparameters.get("way"), one.status, one.message or ""]
            for one in tuner.oracle.trials.values()
        ]))
    """)

    ways = {way: (status, message) for way, status, message in seen}
    assert ways["fine"] == ("COMPLETED", "")
    assert ways["raise"][0] == "FAILED"
    assert ways["raise"][1].splitlines()[-1] == "ValueError: odd"
    assert ways["fail"][0] == "FAILED"
    assert "FailedTrialError: cannot be" in ways["fail"][1]
    assert "ChildDied: The function's process was ended by SIGABRT" in ways["die"][1]
    assert "ChildOutOfMemory: The function was killed" in ways["memory"][1]
    told = " ".join(ways["memory"][1].split())
    assert "whether it leaks or is too big cannot be seen from outside" in told


def test_what_cannot_be_sent_ends_the_search_and_is_named(run):
    seen = run("""
        import tensorflow as tf

        tuner = lowwater.isolated(
            keras_tuner.RandomSearch(build, objective="loss", max_trials=2, directory="searches")
        )
        try:
            tuner.search(tf.data.Dataset.from_tensor_slices((x, y)).batch(8), verbose=0)
        except keras_tuner.errors.FatalError as error:
            print(json.dumps([str(error), len(tuner.oracle.trials)]))
    """)

    assert "Argument 3" in seen[0]
    assert "of `run_trial` cannot be sent to another process" in seen[0]
    assert seen[1] == 1


def test_tuner_that_reports_to_its_oracle_by_itself(run):
    seen = run("""
        import warnings

        class Own(keras_tuner.RandomSearch):
            def run_trial(self, trial, *args, **kwargs):
                value = trial.hyperparameters.Float("value", -1, 1)
                for step in range(3):
                    self.oracle.update_trial(trial.trial_id, {"score": value + step}, step=step)

        tuner = lowwater.isolated(Own(
            objective=keras_tuner.Objective("score", "max"), max_trials=2, directory="searches",
        ))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the library's: the way is old
            tuner.search()
        [best] = tuner.oracle.get_best_trials()
        print(json.dumps([best.best_step, best.score - best.hyperparameters.get("value")]))
    """)

    assert seen == [2, pytest.approx(2)]
