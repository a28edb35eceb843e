"""Optuna's trials stay with their study; the objective runs in a fresh process."""

import os
import threading

import pytest

import lowwater
from lowwater.errors import ChildDied, NotPicklable

pytestmark = pytest.mark.trials


@pytest.fixture(autouse=True)
def optuna():
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return optuna


@pytest.fixture(params=["memory", "sqlite"])
def storage(request, tmp_path):
    return None if request.param == "memory" else f"sqlite:///{tmp_path / 'study.db'}"


def objective(trial):
    import optuna

    rate = trial.suggest_float("rate", 1e-4, 1e-1, log=True)
    units = trial.suggest_int("units", 2, 64)
    kind = trial.suggest_categorical("kind", ["adam", "sgd"])
    trial.set_user_attr("process", os.getpid())
    for step in range(3):
        # Odd trials are bad ones, and found out at their second step.
        trial.report(float(trial.number % 2 and step), step)
        if trial.should_prune():
            raise optuna.TrialPruned(f"at step {step}")
    return rate * units + (kind == "sgd")


@pytest.mark.parametrize("jobs", [1, 2])
def test_study_is_the_study_that_it_would_be(optuna, storage, jobs):
    pruner = optuna.pruners.ThresholdPruner(upper=0.5)
    study = optuna.create_study(storage=storage, pruner=pruner)

    study.optimize(lowwater.isolated(objective), n_trials=4, n_jobs=jobs)

    states = {trial.number: trial.state.name for trial in study.trials}
    assert states == {0: "COMPLETE", 1: "PRUNED", 2: "COMPLETE", 3: "PRUNED"}
    for trial in study.trials:
        steps = {0: 0.0, 1: 0.0, 2: 0.0} if trial.number % 2 == 0 else {0: 0.0, 1: 1.0}
        assert trial.intermediate_values == steps
        assert [*trial.params] == ["rate", "units", "kind"]
        assert trial.distributions["units"].high == 64
    first = study.trials[0]
    expected = first.params["rate"] * first.params["units"] + (first.params["kind"] == "sgd")
    assert first.value == expected
    processes = {trial.user_attrs["process"] for trial in study.trials}
    assert len(processes | {os.getpid()}) == 5


def test_same_seed_suggests_the_same_values(optuna):
    def values(function):
        sampler = optuna.samplers.TPESampler(seed=3)
        study = optuna.create_study(sampler=sampler, pruner=optuna.pruners.NopPruner())
        study.optimize(function, n_trials=3)
        return [(trial.params, trial.value) for trial in study.trials]

    assert values(lowwater.isolated(objective)) == values(objective)


def test_everything_that_can_be_asked_of_a_trial_is_answered(optuna):
    def asks(trial):
        trial.suggest_int("units", 3, 3)
        trial.set_user_attr("note", "kept")
        return trial.number, trial.params, trial.user_attrs, trial.datetime_start.year > 2000

    study = optuna.create_study()
    trial = study.ask()

    seen = lowwater.isolated(asks)(trial)

    assert seen == (0, {"units": 3}, {"note": "kept"}, True)


def test_mistake_in_a_question_is_raised_where_it_was_made(optuna):
    def mistaken(trial):
        try:
            trial.suggest_int("units", 5, 2)
        except ValueError as error:
            return str(error)

    trial = optuna.create_study().ask()

    assert "low" in lowwater.isolated(mistaken)(trial)


def test_objective_that_fails_or_dies_is_a_failed_trial(optuna):
    def fails(trial):
        if trial.number == 0:
            raise ValueError("odd")
        if trial.number == 1:
            os._exit(3)
        return 1.0

    study = optuna.create_study()

    study.optimize(lowwater.isolated(fails), n_trials=3, catch=(ValueError, ChildDied))

    assert [trial.state.name for trial in study.trials] == ["FAIL", "FAIL", "COMPLETE"]


def test_what_cannot_be_sent_is_named_and_is_not_the_trial(optuna):
    lock = threading.Lock()
    trial = optuna.create_study().ask()

    with pytest.raises(NotPicklable, match="The variable `lock`, used in the body"):
        lowwater.isolated(lambda trial: lock.locked() + trial.number)(trial)


def test_two_trials_do_not_get_each_others_answers(optuna):
    trials = [
        optuna.create_study().ask({"units": optuna.distributions.IntDistribution(n, n)})
        for n in (3, 8)
    ]

    def both(first, second):
        return first.params["units"], second.params["units"], first.number, second.number

    assert lowwater.isolated(both)(*trials) == (3, 8, 0, 0)


def test_same_trial_twice_in_a_call_is_one_trial(optuna):
    trial = optuna.create_study().ask()

    assert lowwater.isolated(lambda first, second: first is second)(trial, trial)
