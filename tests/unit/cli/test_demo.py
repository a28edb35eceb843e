"""`lowwater demo` without Keras says what to install; what it shows is the part that matters."""

import importlib.util
from importlib.resources import files

from click.testing import CliRunner

from lowwater.cli.demo import _excerpt, command


def test_demo_without_keras_says_how_to_get_it(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)

    result = CliRunner().invoke(command, [])

    assert "Keras is not installed" in str(result.exception)
    assert "pip install 'lowwater[tensorflow]'" in str(result.exception)


def test_excerpt_is_the_callback_that_leaks():
    source = (files("lowwater.cli._demo") / "leaking.py").read_text(encoding="utf-8")

    shown = _excerpt(source)

    assert shown.startswith("  class WatchPredictions")
    assert "self.saved.append(" in shown
    assert "import" not in shown
