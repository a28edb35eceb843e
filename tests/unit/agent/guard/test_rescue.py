"""What is saved is whole, has a name of its own, and is never written over somebody else's file."""

import json

import pytest

from lowwater.agent.guard.rescue import NAME, CannotSave, save, saving_bytes

FACTS = {"because": "memory rose", "epochs_completed": 17}


class Variable:
    """Fake: as much of a Keras variable as is asked for."""

    def __init__(self, *shape, dtype="float32"):
        self.shape, self.dtype = shape, dtype


class Model:
    """Fake: writes text where Keras would write a zip file."""

    optimizer = None
    variables = (Variable(1000, 1000), Variable(1000, dtype="bfloat16"))

    def __init__(self, content="weights", fails=None, fails_for_weights=None):
        self.content, self.fails, self.fails_for_weights = content, fails, fails_for_weights

    def save(self, path):
        self._write(path, self.fails)

    def save_weights(self, path):
        self._write(path, self.fails_for_weights)

    def _write(self, path, fails):
        with open(path, "w") as file:
            file.write(self.content)
            if fails is not None:
                raise fails


def files(folder):
    return sorted(path.name for path in folder.iterdir())


def test_model_and_facts_are_beside_each_other(tmp_path):
    saved = save(Model(), str(tmp_path), FACTS)

    assert files(tmp_path) == [f"{NAME}.json", f"{NAME}.keras"]
    assert (saved.path, saved.has_optimizer) == (str(tmp_path / f"{NAME}.keras"), True)
    assert json.loads((tmp_path / f"{NAME}.json").read_text()) == {
        "schema": "lowwater.rescue/1",
        "model": f"{NAME}.keras",
        "size_bytes": 7,
        **FACTS,
    }


def test_earlier_rescue_of_ours_is_replaced(tmp_path):
    save(Model("old"), str(tmp_path), FACTS)
    save(Model("newer"), str(tmp_path), FACTS)

    assert files(tmp_path) == [f"{NAME}.json", f"{NAME}.keras"]
    assert (tmp_path / f"{NAME}.keras").read_text() == "newer"


@pytest.mark.parametrize(
    "about",
    [None, "no JSON", "[]", '{"schema": "lowwater.rescue/1", "model": "other", "size_bytes": 6}'],
)
def test_file_of_somebody_else_is_left_alone(tmp_path, about):
    (tmp_path / f"{NAME}.keras").write_text("theirs")
    if about is not None:
        (tmp_path / f"{NAME}.json").write_text(about)

    saved = save(Model(), str(tmp_path), FACTS)

    assert saved.path == str(tmp_path / f"{NAME}-2.keras")
    assert (tmp_path / f"{NAME}.keras").read_text() == "theirs"


def test_rescue_that_was_changed_since_is_left_alone(tmp_path):
    save(Model("old"), str(tmp_path), FACTS)
    (tmp_path / f"{NAME}.keras").write_text("trained further")

    assert save(Model(), str(tmp_path), FACTS).path == str(tmp_path / f"{NAME}-2.keras")


def test_model_that_cannot_be_saved_leaves_its_weights(tmp_path):
    saved = save(Model(fails=TypeError("no get_config\nmore")), str(tmp_path), FACTS)

    assert files(tmp_path) == [f"{NAME}.json", f"{NAME}.weights.h5"]
    assert (saved.has_optimizer, saved.problem) == (False, "TypeError: no get_config")


def test_full_disk_leaves_nothing_behind_and_no_earlier_rescue_damaged(tmp_path):
    save(Model("old"), str(tmp_path), FACTS)
    full = OSError(28, "No space left on device")

    with pytest.raises(CannotSave, match=r"^OSError: \[Errno 28\] No space left on device$"):
        save(Model(fails=full, fails_for_weights=full), str(tmp_path), FACTS)
    assert files(tmp_path) == [f"{NAME}.json", f"{NAME}.keras"]
    assert (tmp_path / f"{NAME}.keras").read_text() == "old"


def test_saving_takes_memory_and_that_is_known():
    """Without the module of Keras that saves by way of the disk: all variables at once."""
    assert saving_bytes(Model()) == round(1.3 * (4_000_000 + 2000)) + (4 << 20)
