"""Callbacks that act once only."""

from lowwater.diagnose.factors import FACTORS, find_factor
from lowwater.diagnose.factors.muted_callbacks import _mute


class Recorder:
    """Looks like a callback."""

    def __init__(self):
        self.seen = []

    def on_epoch_end(self, epoch, logs=None):
        self.seen.append((epoch, logs))

    def on_train_end(self, logs=None):
        self.seen.append("end")

    def summary(self):
        return len(self.seen)


def test_each_method_acts_at_its_first_call_and_others_always():
    callback, acted = Recorder(), set()
    _mute(callback, acted)
    for epoch in range(3):
        callback.on_epoch_end(epoch, logs={})
    callback.on_train_end()

    assert callback.seen == [(0, {}), "end"]
    assert [callback.summary(), callback.summary()] == [2, 2]


def test_another_callback_of_the_same_class_does_not_act_again():
    acted = set()
    first, second = Recorder(), Recorder()
    for one in (first, second):
        _mute(one, acted)
        _mute(one, acted)  # a second `fit` mutes it once more
        one.on_train_end()

    assert first.seen == ["end"]
    assert second.seen == []


def test_every_factor_is_found_by_its_key_those_in_reserve_too():
    assert [find_factor(one.key) for one in FACTORS] == [*FACTORS]
    assert find_factor("muted-callbacks").codes == ("LW101",)
