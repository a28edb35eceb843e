"""Folds of scikit-learn, as they come, in fresh processes."""

import os

import numpy as np
import pytest

import lowwater

pytestmark = pytest.mark.trials

pytest.importorskip("sklearn")


def test_folds_are_configurations():
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import KFold, cross_val_score

    rng = np.random.default_rng(3)
    x = rng.normal(size=(100, 3))
    y = x.sum(axis=1) > 0

    def fold(train, test):
        return LogisticRegression().fit(x[train], y[train]).score(x[test], y[test]), os.getpid()

    results = lowwater.map(fold, KFold(5).split(x, y), workers=2)

    scores, processes = zip(*results, strict=True)
    assert scores == pytest.approx(cross_val_score(LogisticRegression(), x, y, cv=KFold(5)))
    assert len({*processes, os.getpid()}) == 6
