"""Findings of a run say whether `lowwater check` sees them in the files that ran."""

import os
import subprocess
import sys
import time
from dataclasses import replace

import pytest

from lowwater.model import Finding, InSource, Kind
from lowwater.model.assignment import Assignment
from lowwater.supervisor.session import diagnose, with_source
from lowwater.testing import a_run

KEEPS_ARRAYS = """\
import keras

class Keep(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        self.kept.append(self.model.predict(self.x))
"""
# LW102 is a preview rule.
GROWS = """\
import numpy as np

class Trainer:
    history = []

    def step(self, number):
        self.history.append(np.full(9, number))  # what keras would give

for number in range(9):
    Trainer().step(number)
"""


@pytest.fixture
def looked(tmp_path, monkeypatch):
    """What is said of a finding of this code and line, where these files lie in the folder."""
    monkeypatch.chdir(tmp_path)

    def look(code, where, *, began_s=None, script="train.py", kind=Kind.LEAK, **files):
        for name, text in files.items():
            path = tmp_path / f"{name.replace('__', '/')}.py"
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(text if isinstance(text, bytes) else text.encode())
        diagnosis = diagnose(a_run(12).grows(mib=4).timeline())
        diagnosis = replace(
            diagnosis,
            verdict=replace(diagnosis.verdict, kind=kind),
            findings=(Finding(code, "", "it grows", "Empty it.", where),),
        )
        began_s = time.time() if began_s is None else began_s
        return with_source(diagnosis, Assignment(script, [], is_module=False), began_s)

    return lambda *given, **how: look(*given, **how).findings[0].in_source


def test_same_cause_in_the_same_file_is_seen(looked):
    # Its lines may be those of two ends of one path.
    assert looked("LW101", "train.py:3", train=KEEPS_ARRAYS) is InSource.SEEN


def test_another_cause_is_not_seen(looked):
    assert looked("LW104", "train.py:5", train=KEEPS_ARRAYS) is InSource.NOT_SEEN


def test_rule_that_needs_preview_is_preview_until_the_settings_ask_for_it(looked, tmp_path):
    assert looked("LW102", "train.py:7", train=GROWS) is InSource.PREVIEW

    (tmp_path / "pyproject.toml").write_text("[tool.lowwater.check]\npreview = true\n")

    assert looked("LW102", "train.py:7", train=GROWS) is InSource.SEEN


def test_what_a_comment_allows_is_not_seen(looked):
    allowed = KEEPS_ARRAYS.rstrip() + "  # lowwater: allow[LW101] replay needs them\n"

    assert looked("LW101", "train.py:5", train=allowed) is InSource.NOT_SEEN


@pytest.mark.parametrize(
    ("where", "files"),
    [
        ("keep.py:5", {"scripts__train": "", "scripts__keep": KEEPS_ARRAYS}),
        ("keep.py:5", {"scripts__train": "", "keep": KEEPS_ARRAYS}),
        ("lib/keep.py:5", {"scripts__train": "", "lib__keep": KEEPS_ARRAYS}),
    ],
    ids=["beside the script", "where it was started", "in a package beside"],
)
def test_file_is_found_where_a_report_says(looked, where, files):
    assert looked("LW101", where, script="scripts/train.py", **files) is InSource.SEEN


@pytest.mark.parametrize(
    ("where", "files"),
    [
        (None, {"train": KEEPS_ARRAYS}),
        ("gone.py:5", {"train": KEEPS_ARRAYS}),
        ("train.py:5", {"train": KEEPS_ARRAYS + "def\n"}),
        ("train.py:5", {"train": KEEPS_ARRAYS.encode() + b"# \xff\n"}),
        ("train.py:5", {"train": KEEPS_ARRAYS + "#" * 1_000_000}),
        ("train.py:5", {"scripts__train": KEEPS_ARRAYS, "train": KEEPS_ARRAYS}),
    ],
    ids=["no line", "gone", "no Python", "no text", "generated", "two of that name"],
)
def test_file_that_cannot_be_read_is_no_error(looked, where, files):
    script = "scripts/train.py" if "scripts__train" in files else "train.py"

    assert looked("LW101", where, script=script, **files) is None


def test_file_that_was_changed_since_is_not_the_one_that_ran(looked):
    assert looked("LW101", "train.py:5", began_s=time.time() - 60, train=KEEPS_ARRAYS) is None


def test_folder_that_is_gone_is_no_error(looked, tmp_path, monkeypatch):
    gone = tmp_path / "gone"
    gone.mkdir()

    monkeypatch.chdir(gone)
    gone.rmdir()

    assert looked("LW101", "train.py:5") is None


def test_settings_that_cannot_be_read_are_no_error(looked, tmp_path):
    (tmp_path / "pyproject.toml").write_text("[tool.lowwater.check]\nselect = 1\n")

    assert looked("LW101", "train.py:5", train=KEEPS_ARRAYS) is None


def test_flat_run_is_not_looked_for(looked):
    assert looked("LW101", "train.py:5", kind=Kind.FLAT, train=KEEPS_ARRAYS) is None


def test_flat_run_imports_nothing_of_check(tmp_path):
    code = (
        "import sys, time\n"
        "from lowwater.model.assignment import Assignment\n"
        "from lowwater.supervisor.session import diagnose, with_source\n"
        "from lowwater.testing import a_run\n"
        "flat = diagnose(a_run(14).timeline())\n"
        "with_source(flat, Assignment('train.py', [], is_module=False), time.time())\n"
        "print(flat.verdict.kind, [one for one in sys.modules if 'lowwater.check' in one])\n"
    )

    done = subprocess.run(
        [sys.executable, "-P", "-c", code],
        capture_output=True, text=True, check=True, cwd=tmp_path, env=os.environ,
    )  # fmt: skip

    assert done.stdout == "flat []\n"
