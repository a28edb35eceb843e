"""The variables that JAX reads."""

import sys
from types import ModuleType

import pytest

from lowwater.agent.device_settings.jax import (
    CLIENT,
    FRACTION,
    NEWER_FRACTION,
    PREALLOCATE,
    JaxSettings,
)
from lowwater.model.device_settings import DeviceSettings

GIB = 1 << 30
GROWTH = DeviceSettings(growth=True)
LIMIT = DeviceSettings(limit_bytes=GIB, sizes=(4 * GIB,))


@pytest.fixture(autouse=True)
def clean(monkeypatch):
    for name in (PREALLOCATE, FRACTION, NEWER_FRACTION):
        # Set first, so that what a test adds is taken back as well.
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    monkeypatch.setitem(sys.modules, CLIENT, ModuleType(CLIENT))


@pytest.fixture
def notes():
    return []


def test_growth_is_no_preallocation(notes):
    JaxSettings(GROWTH, notes.append).apply()

    assert notes == ["JAX: XLA_PYTHON_CLIENT_PREALLOCATE=false"]


def test_limit_is_a_share_of_the_gpu(notes):
    JaxSettings(LIMIT, notes.append).apply()

    assert notes == ["JAX: XLA_PYTHON_CLIENT_MEM_FRACTION=0.25"]


def test_limit_without_the_size_of_the_gpu_is_not_set_and_says_why(notes):
    JaxSettings(DeviceSettings(limit_bytes=GIB, no_sizes="no driver"), notes.append).apply()

    assert notes == [
        "JAX: nothing set",
        "JAX: no limit of 1.0 GiB: JAX needs it as a share of the GPU, but no driver",
    ]


def test_what_the_user_typed_replaces_what_was_inherited(notes, monkeypatch):
    monkeypatch.setenv(PREALLOCATE, "true")
    JaxSettings(GROWTH, notes.append).apply()

    assert notes == ["JAX: XLA_PYTHON_CLIENT_PREALLOCATE=false"]


def test_what_the_script_sets_before_it_imports_jax_stays(notes, monkeypatch):
    settings = JaxSettings(GROWTH, notes.append)
    monkeypatch.setenv(PREALLOCATE, "true")
    settings.apply()

    assert notes[0] == (
        "JAX: the script set XLA_PYTHON_CLIENT_PREALLOCATE=true itself, and its setting is used"
    )
    assert notes[1] == "JAX: XLA_PYTHON_CLIENT_PREALLOCATE=true"


def test_isolated_trial_leaves_what_was_inherited(notes, monkeypatch):
    monkeypatch.setenv(PREALLOCATE, "true")
    settings = JaxSettings(GROWTH, notes.append, overrides=False)
    settings.apply()

    assert [*settings.told()] == ["JAX: XLA_PYTHON_CLIENT_PREALLOCATE=true"]
    assert not notes


def test_other_settings_later_replace_ours(notes):
    settings = JaxSettings(GROWTH, notes.append)
    settings.apply()
    settings.want(LIMIT)
    settings.apply()

    assert [*settings.told()] == ["JAX: XLA_PYTHON_CLIENT_MEM_FRACTION=0.25"]
