"""jemalloc in the place of the usual malloc, where it is installed."""

import os
import subprocess
import sys

import pytest

from lowwater.diagnose.factors import FACTORS, jemalloc
from lowwater.diagnose.factors.jemalloc import Jemalloc, find_jemalloc
from lowwater.diagnose.facts import Facts
from lowwater.diagnose.order import in_order
from lowwater.model import Kind
from lowwater.model.experiment import Measured


@pytest.fixture
def library(monkeypatch, tmp_path):
    file = tmp_path / "x86" / "libjemalloc.so.2"
    file.parent.mkdir()
    file.touch()
    monkeypatch.setattr(jemalloc, "_USUAL", (f"{tmp_path}/*/libjemalloc.so.2",))
    monkeypatch.setattr(jemalloc, "malloc_library", lambda: "libc.so.6")
    monkeypatch.delenv("LD_PRELOAD", raising=False)
    return str(file)


def test_it_is_preloaded_before_what_the_user_preloads(library, monkeypatch):
    assert Jemalloc().variables() == {"LD_PRELOAD": library}

    monkeypatch.setenv("LD_PRELOAD", "libstderred.so libother.so")

    assert Jemalloc().variables() == {"LD_PRELOAD": f"{library}:libstderred.so libother.so"}
    assert Jemalloc().why_not(Facts()) is None


@pytest.mark.usefixtures("library")
def test_where_it_is_missing_that_is_said(monkeypatch):
    monkeypatch.setattr(jemalloc, "_USUAL", ())
    monkeypatch.setattr(jemalloc.ctypes.util, "find_library", lambda _: None)

    assert Jemalloc().why_not(Facts()) == "jemalloc is not installed"


@pytest.mark.usefixtures("library")
def test_program_with_another_malloc_keeps_it(monkeypatch):
    monkeypatch.setattr(jemalloc, "malloc_library", lambda: "libtcmalloc.so.4")

    assert Jemalloc().why_not(Facts()) == "the program already uses libtcmalloc.so.4"


def test_it_is_asked_about_holes_only_and_after_the_trim():
    keys = {
        kind: [one.key for one in in_order(FACTORS, Measured(kind), (), Facts())]
        for kind in (Kind.LEAK, Kind.FRAGMENTED)
    }

    assert "jemalloc" not in keys[Kind.LEAK]
    assert keys[Kind.FRAGMENTED] == ["heap", "jemalloc"]


@pytest.mark.skipif(find_jemalloc() is None, reason="no jemalloc is installed here")
def test_program_that_it_is_preloaded_to_runs_with_it():
    code = "from lowwater.probes.glibc import malloc_library; print(malloc_library())"
    env = {**os.environ, **Jemalloc().variables()}

    done = subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True
    )

    assert "jemalloc" in done.stdout
