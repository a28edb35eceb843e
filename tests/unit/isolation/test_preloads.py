"""What the next process imports beforehand."""

import importlib.machinery
import sys
from types import ModuleType

from lowwater.isolation.local.preloads import frameworks_here


def real(name):
    module = ModuleType(name)
    module.__spec__ = importlib.machinery.ModuleSpec(name, None)
    return module


def test_frameworks_are_imported_in_the_order_in_which_the_program_did(monkeypatch):
    # FAKE modules: with the real ones, the other order ends the process in LLVM.
    for name in ("torch", "jax", "keras"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    for name in ("keras", "jax", "torch"):
        monkeypatch.setitem(sys.modules, name, real(name))

    assert [name for name in frameworks_here() if name in ("torch", "jax", "keras")] == [
        "keras",
        "jax",
        "torch",
    ]


def test_what_only_a_test_has_put_there_is_not_one(monkeypatch):
    monkeypatch.setitem(sys.modules, "keras_tuner", ModuleType("keras_tuner"))

    assert "keras_tuner" not in frameworks_here()
