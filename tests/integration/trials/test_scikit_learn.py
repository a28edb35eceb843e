"""Folds and searches of scikit-learn in fresh processes."""

import os
import threading
import time

import numpy as np
import psutil
import pytest

import lowwater
from lowwater.errors import ChildDied, ChildOutOfMemory, UsageError

pytestmark = pytest.mark.trials


@pytest.fixture
def joblib():
    import joblib

    return joblib


@pytest.fixture
def data():
    x = np.random.default_rng(3).normal(size=(100, 3))
    return x, x.sum(axis=1) > 0


@pytest.fixture
def process():
    # Not a function of this module, which a fresh process does not find.
    return lambda _number: os.getpid()


class TestFolds:
    def test_folds_are_configurations(self, data):
        from sklearn.linear_model import LogisticRegression
        from sklearn.model_selection import KFold, cross_val_score

        x, y = data

        def fold(train, test):
            return LogisticRegression().fit(x[train], y[train]).score(x[test], y[test]), os.getpid()

        results = lowwater.map(fold, KFold(5).split(x, y), workers=2)

        scores, processes = zip(*results, strict=True)
        assert scores == pytest.approx(cross_val_score(LogisticRegression(), x, y, cv=KFold(5)))
        assert len({*processes, os.getpid()}) == 6


class TestBackend:
    @pytest.mark.parametrize("workers", [1, 2])
    def test_every_task_has_a_process_of_its_own(self, joblib, process, workers):
        with lowwater.joblib_backend(workers=workers):
            found = joblib.Parallel()(joblib.delayed(process)(number) for number in range(5))

        assert len({*found, os.getpid()}) == 6

    def test_afterwards_joblib_is_what_it_was(self, joblib, process):
        with lowwater.joblib_backend():
            pass

        assert joblib.Parallel(n_jobs=1)([joblib.delayed(process)(1)]) == [os.getpid()]

    def test_scores_are_those_of_scikit_learn(self, data):
        from sklearn.linear_model import LogisticRegression
        from sklearn.model_selection import cross_val_score

        with lowwater.joblib_backend(workers=2, memory="4 GiB"):
            scores = cross_val_score(LogisticRegression(), *data, cv=4)

        assert scores.tolist() == cross_val_score(LogisticRegression(), *data, cv=4).tolist()

    def test_search_finds_what_it_finds(self, data):
        from sklearn.linear_model import LogisticRegression
        from sklearn.model_selection import GridSearchCV

        def search():
            return GridSearchCV(LogisticRegression(), {"C": [0.01, 1.0]}, cv=2).fit(*data)

        with lowwater.joblib_backend(workers=2):
            apart = search()

        plain = search()
        assert apart.best_params_ == plain.best_params_
        tested = "mean_test_score"
        assert apart.cv_results_[tested].tolist() == plain.cv_results_[tested].tolist()

    def test_n_jobs_of_the_program_does_not_turn_it_off(self, joblib, process):
        with lowwater.joblib_backend():
            [found] = joblib.Parallel(n_jobs=1)([joblib.delayed(process)(1)])

        assert found != os.getpid()

    def test_error_of_a_task_is_raised_with_its_traceback(self, joblib):
        def fails():
            return {}[64]

        with lowwater.joblib_backend(workers=2), pytest.raises(KeyError, match="64") as caught:
            joblib.Parallel()([joblib.delayed(fails)()])

        assert "return {}[64]" in str(caught.value.__cause__)

    def test_limits_hold_for_each_task(self, joblib):
        def greedy(size):
            return int(np.ones(size << 20, dtype="uint8").sum())

        with lowwater.joblib_backend(memory="200 MiB"), pytest.raises(ChildOutOfMemory):
            joblib.Parallel()([joblib.delayed(greedy)(400)])

    def test_failed_task_is_tried_again(self, joblib, tmp_path):
        def dies_at_first():
            if not (tmp_path / "mark").exists():
                (tmp_path / "mark").touch()
                os._exit(3)
            return 5

        with lowwater.joblib_backend(retries=1):
            assert joblib.Parallel()([joblib.delayed(dies_at_first)()]) == [5]
        with lowwater.joblib_backend(), pytest.raises(ChildDied, match="exit code 3"):
            joblib.Parallel()([joblib.delayed(os._exit)(3)])

    def test_error_kills_the_tasks_that_still_run(self, joblib, tmp_path):
        def task(number):
            if number:
                (tmp_path / "pid").write_text(str(os.getpid()))
                threading.Event().wait()
            while not (tmp_path / "pid").exists():
                time.sleep(0.01)
            raise ValueError("first")

        with (
            lowwater.joblib_backend(workers=2, timeout="60 s"),
            pytest.raises(ValueError, match="first"),
        ):
            joblib.Parallel()(joblib.delayed(task)(number) for number in range(2))
        assert not psutil.pid_exists(int((tmp_path / "pid").read_text()))

    def test_workers_have_to_be_some(self):
        with pytest.raises(UsageError, match="`workers` must be 1 or more"):
            lowwater.joblib_backend(workers=0)
