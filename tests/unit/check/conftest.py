import inspect

import pytest

from lowwater.check.config import CheckOptions
from lowwater.check.run import run

LEAK = """
import keras

class Keep(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        self.kept.append(self.model.predict(self.x))
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder to check, with files of these names and texts."""
    monkeypatch.chdir(tmp_path)

    def write(**files):
        for name, content in files.items():
            path = tmp_path / name.replace("__", "/").replace("_py", ".py").replace("_nb", ".ipynb")
            path.parent.mkdir(parents=True, exist_ok=True)
            is_text = isinstance(content, str)
            path.write_bytes(f"{inspect.cleandoc(content)}\n".encode() if is_text else content)
        return tmp_path

    return write


@pytest.fixture
def checked(folder):
    """What is found in files of these names and texts."""

    def check(options=None, cache_folder=None, **files):
        folder(**files)
        return run(["."], options or CheckOptions(preview=True), cache_folder=cache_folder)

    return check
