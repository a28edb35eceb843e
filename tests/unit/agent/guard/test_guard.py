"""At a boundary the guard stops `fit`, saves, and says so; until then it does nothing."""

import pytest

from lowwater.agent.guard import guard as module
from lowwater.agent.guard.decision import Standing
from lowwater.agent.guard.guard import Guard
from lowwater.agent.journal import Journal
from lowwater.errors import StoppedByGuard
from lowwater.model.guard import Room
from lowwater.recording.reader import load
from lowwater.recording.writer import Writer, start_recording

MIB = 1 << 20
LIMIT = 1024 * MIB


class Places:
    """Fake: a host whose level the test sets."""

    def __init__(self):
        self.level = 400 * MIB
        self.rooms_read = 0

    def standings(self):
        return {"host": Standing(self.level, self.level, self.level)}

    def rooms_of(self, _):
        self.rooms_read += 1
        return (Room("control group", LIMIT, LIMIT - self.level),)


class Model:
    """Fake: a model that can be saved."""

    stop_training = False
    built = True
    trainable_variables = ("kernel",)
    optimizer = None
    variables = ()
    fails = None

    def save(self, path):
        if self.fails:
            raise self.fails
        with open(path, "w") as file:
            file.write("weights")

    save_weights = save


class Callbacks:
    """Fake: the list of callbacks of a `fit`."""

    def __init__(self, model):
        self._model = self.model = model


class Training:
    """A guard, and a program that trains under it."""

    is_in_fit = False

    def __init__(self, folder, *, raises=False):
        self.path, self.folder = str(folder / "run.lw"), folder
        self.journal = Journal(Writer(self.path, start_recording(self.path)))
        self.places, self.model = Places(), Model()
        self.guard = Guard(
            self.journal, str(folder), lambda: [self.model], raises=raises, places=self.places
        )

    def fit(self, epochs, grows=0, batches=1):
        """Train until the guard stops it; how many epochs there were."""
        Training.is_in_fit = True
        try:
            return self._fit(epochs, grows, batches)
        finally:
            Training.is_in_fit = False

    def _fit(self, epochs, grows, batches):
        self.model.stop_training = False
        callbacks = Callbacks(self.model)
        self.guard.fit_begins(callbacks)
        for epoch in range(epochs):
            self.guard.epoch_begins(epoch)
            for _ in range(batches):
                self.guard.batch_ended(callbacks)
                if self.model.stop_training:
                    break
            self.places.level += grows
            self.guard.epoch_ended(callbacks, epoch)
            if self.model.stop_training:
                break
        self.guard.fit_ended(callbacks)
        return epoch + 1

    def told(self):
        self.journal.close()
        timeline = load(self.path)
        return timeline.guarded, [note.text for note in timeline.notes]


@pytest.fixture(autouse=True)
def fit_of_keras(monkeypatch):
    """Fake: a frame of Keras on the stack, while `Training.fit` runs."""
    monkeypatch.setattr(module, "_is_within_fit", lambda: Training.is_in_fit)


@pytest.fixture
def training(tmp_path):
    return Training(tmp_path)


def test_leak_is_ended_saved_and_told(training):
    epochs = training.fit(1000, grows=20 * MIB)
    guarded, notes = training.told()

    assert 25 < epochs < 32
    assert (guarded.unit, guarded.fit, guarded.epochs_completed) == ("epoch", 1, epochs)
    assert (guarded.saved, guarded.problem) == (("lowwater-rescue.keras",), "")
    assert guarded.because.startswith("host memory in use rose by 20.0 MiB per epoch over the last")
    assert guarded.because.endswith("of the 1.0 GiB of the control group was left")
    assert not notes


def test_later_fits_are_ended_at_their_first_batch_and_counted(training):
    training.fit(1000, grows=20 * MIB)

    assert [training.fit(5, batches=10), training.fit(5)] == [1, 1]
    assert training.told()[0].later_fits == 2


def test_flat_training_is_left_alone_and_its_room_is_never_read(training):
    assert training.fit(300, batches=3) == 300
    assert training.places.rooms_read == 0
    assert training.told() == (None, [])


def test_far_from_the_limit_the_room_is_read_a_few_times_only(training):
    training.places.level = 0

    assert training.fit(700, grows=MIB) == 700
    assert training.places.rooms_read < 40


def test_what_was_waiting_for_the_collector_is_collected_and_training_goes_on(
    training, monkeypatch
):
    def collect():
        training.places.level = 400 * MIB

    monkeypatch.setattr(module.gc, "collect", collect)

    assert training.fit(100, grows=20 * MIB) == 100
    guarded, [note] = training.told()
    assert guarded is None
    assert note.startswith("the guard collected garbage when memory was about to run out; that")


def test_what_cannot_be_saved_is_ended_all_the_same(training):
    training.model.fails = OSError(28, "No space left on device")

    assert training.fit(1000, grows=20 * MIB) < 32
    guarded, _ = training.told()
    assert (guarded.saved, guarded.problem) == ((), "OSError: [Errno 28] No space left on device")


def loop(training, rounds, grows=20 * MIB, fits=False):
    for number in range(rounds):
        if fits:
            training.fit(1)
        training.places.level += grows
        training.guard.loop_passes("iteration", "train.py:9", number)


def test_loop_without_fit_gets_an_exception_where_that_was_asked_for(tmp_path):
    training = Training(tmp_path, raises=True)

    with pytest.raises(StoppedByGuard, match=r"^memory is about to run out: host memory .*rescue"):
        loop(training, 1000)
    guarded, _ = training.told()
    assert (guarded.unit, guarded.where) == ("iteration", "train.py:9")
    assert guarded.is_raised


def test_loop_without_fit_is_left_alone_otherwise_and_a_note_says_what_to_type(training):
    loop(training, 31)
    guarded, [note] = training.told()

    assert guarded is None
    assert note == (
        "memory was about to run out in the loop train.py:9, which trains without `fit`; to end "
        "such a loop in time, use `lowwater run --guard-raise`"
    )


def test_model_is_saved_in_a_loop_of_fits_before_the_next_one_begins(training):
    loop(training, 31, fits=True)
    guarded, _ = training.told()

    assert guarded.unit in ("fit", "epoch", "iteration")
    assert guarded.saved == ("lowwater-rescue.keras",)
    assert guarded.later_fits > 0


def test_loop_with_callbacks_of_its_own_is_no_fit(training):
    training._fit(1000, 10 * MIB, 1)

    assert training.told() == (None, [])


def test_boundaries_of_keras_are_not_looked_at_twice(training):
    for number in range(100):
        training.places.level += 20 * MIB
        training.guard.loop_passes("epoch", None, number)

    assert training.told() == (None, [])


def test_forked_child_is_left_alone(training):
    training.journal.is_on = False

    assert training.fit(100, grows=20 * MIB) == 100
    assert not (training.folder / "lowwater-rescue.keras").exists()
