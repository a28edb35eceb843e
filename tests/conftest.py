"""What all tests need to be true of the process that runs them."""

import os
import signal
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# How long an example takes says how busy the machine is, and nothing about Lowwater.
settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")

# A shell without job control starts what runs in the background with Ctrl-C and SIGQUIT ignored,
# and `nohup` does so with SIGHUP. Every program would inherit that: then none could be interrupted.
for number, usual in (
    (signal.SIGINT, signal.default_int_handler),
    (signal.SIGQUIT, signal.SIG_DFL),
    (signal.SIGHUP, signal.SIG_DFL),
):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, usual)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden", action="store_true", help="make what is shown now the golden files"
    )


@pytest.fixture
def with_jax(monkeypatch: pytest.MonkeyPatch) -> None:
    """JAX for this test and for its programs; ask for it before `programs`.

    It has a folder of its own, for TensorFlow imports JAX wherever it finds it: half a second more
    for each of two hundred programs.
    """
    folder = str(Path(sys.prefix) / "jax")
    monkeypatch.syspath_prepend(folder)
    paths = [folder, *filter(None, [os.environ.get("PYTHONPATH")])]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(paths))
