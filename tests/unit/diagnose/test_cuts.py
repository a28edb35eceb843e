"""How much of a program is run."""

from types import SimpleNamespace

import numpy as np
import pytest

from lowwater.diagnose.cuts import Cuts
from lowwater.diagnose.rounds import Rounds
from lowwater.model.experiment import Fact


class Rebound:
    """Stands for `Change`: calls what was placed into `fit`, the last first."""

    def __init__(self):
        self.placed = []
        self.rounds = Rounds()

    def when_imported(self, library, act):
        if library == "keras":
            methods = dict.fromkeys(
                "fit evaluate predict train_on_batch test_on_batch predict_on_batch".split()
            )
            optimizer = SimpleNamespace(apply_gradients=None)
            act(
                SimpleNamespace(
                    Model=SimpleNamespace(**methods),
                    optimizers=SimpleNamespace(Optimizer=optimizer),
                )
            )

    def rebind(self, _function, argument, changed, *others):
        self.placed.insert(0, (argument, changed, others))

    def before(self, *_):
        pass

    def fit(self, **given):
        defaults = {
            **dict.fromkeys(["x", "y", "sample_weight", "steps_per_epoch", "batch_size"]),
            **dict.fromkeys(["validation_data", "validation_steps"]),
            "epochs": 1,
            "initial_epoch": 0,
        }
        values = {**defaults, **given}
        for argument, changed, others in self.placed:
            values[argument] = changed(values[argument], *(values[name] for name in others))
        return values


@pytest.fixture
def told():
    return []


@pytest.fixture
def fit(told):
    return fit_with(Cuts(epochs=12, steps=30), lambda key, _: told.append(key))


def fit_with(cuts, tell=lambda *_: None):
    change = Rebound()
    cuts.apply(change, cuts.limits(change.rounds, tell), tell)
    return change.fit


def test_many_epochs_become_few_and_that_is_told(fit, told):
    assert fit(epochs=100)["epochs"] == 12
    assert told == [Fact.EPOCHS_CUT]


def test_few_epochs_stay_and_nothing_is_told(fit, told):
    assert fit(epochs=5)["epochs"] == 5
    assert told == []


def test_training_that_goes_on_from_a_later_epoch_has_as_many(fit):
    assert fit(initial_epoch=40, epochs=100)["epochs"] == 52
    assert fit(initial_epoch=40, epochs=45)["epochs"] == 45


def test_steps_are_cut_only_where_the_program_names_them(fit):
    assert fit(steps_per_epoch=1000)["steps_per_epoch"] == 30
    assert fit(steps_per_epoch=7)["steps_per_epoch"] == 7
    assert fit()["steps_per_epoch"] is None


def test_inputs_labels_and_weights_are_cut_alike():
    fit = fit_with(Cuts(steps=3))

    given = fit(x=np.zeros((500, 2)), y=np.zeros(500), sample_weight=np.zeros(500), batch_size=8)

    assert [len(given[name]) for name in ("x", "y", "sample_weight")] == [24, 24, 24]


def test_longer_is_what_is_needed_and_at_least_twice_as_long():
    cuts = Cuts(epochs=12, rounds=14, seconds=8.0)

    assert cuts.longer(100).rounds == 114
    assert (cuts.longer(3).rounds, cuts.longer(3).epochs) == (28, 24)
    assert cuts.longer(0).seconds == 16.0
