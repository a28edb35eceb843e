"""Whatever lies in a folder, each file is checked or told in one line, and work is not repeated."""

import os
import signal
import sys

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lowwater.check import cache, one_file, run
from lowwater.check.cache import FOLDER
from lowwater.check.config import CheckOptions
from lowwater.check.modules import ProjectModules
from lowwater.check.project import Project

LEAK = """
import keras

class Keep(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        self.kept.append(self.model.predict(self.x))
"""
HELPER = "import keras\ndef build():\n    return keras.Sequential([])\n"
LOOP = "from helper import build\nkept = []\nfor n in range(99):\n    kept.append(build())\n"


def codes(report):
    return [(one.path, one.code) for one in report.findings]


@pytest.fixture
def parsed(monkeypatch):
    """The files that are parsed, in this process."""
    seen = []
    add = Project.add

    def spy(self, path, text):
        seen.append(os.path.basename(path))
        return add(self, path, text)

    monkeypatch.setattr(Project, "add", spy)
    return seen


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"import keras\nCallback(\n", "not valid Python: '(' was never closed (line 2)"),
        (b"import keras\n# Callback\nx = '\xff'\n", "not utf-8 text"),
        (b"# -*- coding: nonsense -*-\nimport keras  # Callback\n", "unknown encoding: nonsense"),
        (b"import keras  # Callback\nx = 1\x00\n", "not valid Python: source code string cannot"),
        (b"import keras # Callback\nx = " + b"(" * 5000 + b")" * 5000, ""),
        (b"import keras  # Callback\n" + b"x = 1\n" * 2_000_000, "larger than 10 MiB"),
    ],
    ids=["syntax", "bytes", "encoding", "null", "nested", "large"],
)
def test_file_that_cannot_be_checked_is_one_line_and_the_rest_is_checked(checked, data, why):
    report = checked(a_py=data, b_py=LEAK)

    [missed] = report.unchecked
    assert missed.path == "a.py"
    assert why in missed.why
    assert "\n" not in missed.why
    assert codes(report) == [("b.py", "LW101")]


def test_other_encodings_are_read(checked):
    text = f"# -*- coding: latin-1 -*-\n# Gr\u00fc\u00dfe\n{LEAK}"

    assert codes(checked(a_py=text.encode("latin-1"))) == [("a.py", "LW101")]
    assert codes(checked(a_py=b"\xef\xbb\xbf" + LEAK.encode())) == [("a.py", "LW101")]


def test_columns_count_characters(checked):
    text = LEAK.replace("self.kept", "self.k\u00e4pt").replace(
        "        self", "        '\u00fc'; self"
    )
    [finding] = checked(a_py=text).findings

    assert finding.span.column == 14


def test_very_many_lines_are_checked(checked):
    report = checked(a_py=LEAK + "x = 1\n" * 100_000)

    assert codes(report) == [("a.py", "LW101")]


def test_links_that_lead_back_end(folder):
    root = folder(src__a_py=LEAK)
    (root / "src" / "loop").symlink_to(root / "src")
    (root / "src" / "b.py").symlink_to(root / "src" / "b.py")
    (root / "src" / "c.py").symlink_to(root / "src" / "a.py")
    (root / "src" / "d.py").symlink_to(root / "nowhere")

    report = run.run(["src", "src/a.py"])

    assert codes(report) == [("src/a.py", "LW101")]
    assert {one.path for one in report.unchecked} == {"src/b.py", "src/d.py"}


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_file_without_permission_is_one_line(folder):
    root = folder(a_py=LEAK, b_py=LEAK)
    (root / "a.py").chmod(0)

    report = run.run(["."])

    assert [one.why for one in report.unchecked] == ["Permission denied"]
    assert codes(report) == [("b.py", "LW101")]


def test_pipe_is_not_waited_for(folder):
    root = folder(b_py=LEAK)
    os.mkfifo(root / "a.py")

    report = run.run(["."])

    assert [one.why for one in report.unchecked] == ["not a regular file"]
    assert codes(report) == [("b.py", "LW101")]


def test_name_that_is_no_text_is_checked(folder):
    root = folder(b_py=LEAK)
    name = os.fsdecode(b"\xff.py")
    (root / name).write_text(LEAK, encoding="utf-8")

    assert [code for _, code in codes(run.run(["."]))] == ["LW101", "LW101"]


def test_file_about_something_else_is_not_parsed(checked, parsed):
    checked(a_py="class Callback:\n    def on_epoch_end(self): pass\n", b_py="import keras\n")

    assert parsed == []


def test_helper_in_another_file_is_followed_and_parsed_once(checked, parsed):
    report = checked(helper_py=HELPER, a_py=LOOP, b_py=LOOP)

    assert codes(report) == [("a.py", "LW201"), ("b.py", "LW201")]
    assert parsed.count("helper.py") == 1


def test_many_files_are_checked_on_all_cores(checked, monkeypatch):
    monkeypatch.setattr(run, "_cores", lambda: 2)
    monkeypatch.setattr(run, "_WORTH_A_PROCESS_BYTES", 1)
    monkeypatch.setattr(run, "_CHUNK_BYTES", 1)
    files = {f"f{number}_py": LEAK for number in range(6)}

    report = checked(helper_py=HELPER, a_py=LOOP, **files)

    assert codes(report) == [
        ("a.py", "LW201"), *((f"f{number}.py", "LW101") for number in range(6)),
    ]  # fmt: skip


def test_process_that_is_killed_loses_no_file(checked, monkeypatch):
    monkeypatch.setattr(run, "_cores", lambda: 2)
    monkeypatch.setattr(run, "_WORTH_A_PROCESS_BYTES", 1)
    monkeypatch.setattr(run, "_CHUNK_BYTES", 1)
    here, checked_one = os.getpid(), run._job

    def killed(job, modules, parsed):
        if os.getpid() != here and "b.py" in job.path:
            os.kill(os.getpid(), signal.SIGKILL)
        return checked_one(job, modules, parsed)

    monkeypatch.setattr(run, "_job", killed)

    report = checked(a_py=LEAK, b_py=LEAK, c_py=LEAK)

    assert codes(report) == [("a.py", "LW101"), ("b.py", "LW101"), ("c.py", "LW101")]


# What was found before is found again without a look at the syntax.


def test_unchanged_files_are_not_parsed_again(checked, parsed):
    first = checked(cache_folder=".", a_py=LEAK, helper_py=HELPER, b_py=LOOP)
    assert parsed
    parsed.clear()

    assert checked(cache_folder=".") == first
    assert parsed == []


def test_unchanged_files_are_not_searched_again(checked, monkeypatch):
    first = checked(cache_folder=".", a_py=LEAK, b_py="import keras", c_py="x = 1")

    def fail(_):
        raise AssertionError

    monkeypatch.setattr(cache, "own_words", fail)

    assert checked(cache_folder=".") == first
    with pytest.raises(AssertionError):
        checked(cache_folder=".", c_py="x = 2")


def test_changed_file_is_parsed_again_alone(checked, parsed):
    checked(cache_folder=".", a_py=LEAK, b_py=LEAK)
    parsed.clear()

    report = checked(cache_folder=".", a_py=LEAK.replace("append", "count"))

    assert parsed == ["a.py"]
    assert codes(report) == [("b.py", "LW101")]


def test_change_of_a_helper_is_noticed_where_it_is_used(checked):
    assert codes(checked(cache_folder=".", helper_py=HELPER, a_py=LOOP)) == [("a.py", "LW201")]

    assert codes(checked(cache_folder=".", helper_py="def build():\n    return 1\n")) == []
    assert codes(checked(cache_folder=".", helper_py=HELPER)) == [("a.py", "LW201")]


def test_helper_that_comes_later_is_noticed_from_another_folder(folder, monkeypatch):
    text = f"import keras  # Sequential(\n{LOOP}"
    root = folder(inner__a_py=text)
    assert codes(run.run(["inner/a.py"], cache_folder=str(root))) == []
    folder(inner__helper_py=HELPER)
    monkeypatch.chdir(root / "inner")

    assert codes(run.run(["a.py"], cache_folder=str(root))) == [("a.py", "LW201")]


def test_helper_that_comes_later_is_noticed(checked):
    text = f"import keras  # Sequential(\n{LOOP}"
    assert codes(checked(cache_folder=".", a_py=text)) == []

    assert codes(checked(cache_folder=".", helper_py=HELPER)) == [("a.py", "LW201")]


def test_other_settings_need_no_other_findings(checked, parsed):
    checked(cache_folder=".", a_py=LEAK)
    parsed.clear()

    assert codes(checked(CheckOptions(ignore=("LW101",), preview=True), cache_folder=".")) == []
    assert parsed == []


@pytest.mark.parametrize("damage", [b"", b"\x00\xff", b"not a cache"])
def test_damaged_cache_is_no_error(checked, folder, damage):
    checked(cache_folder=".", a_py=LEAK)
    path = folder() / FOLDER / "check-preview.msgpack"
    path.write_bytes(damage or path.read_bytes()[:20])

    assert codes(checked(cache_folder=".")) == [("a.py", "LW101")]


def test_folder_that_takes_no_cache_is_no_error(checked, folder):
    (folder() / FOLDER).write_text("a file", encoding="utf-8")

    assert codes(checked(cache_folder=".", a_py=LEAK)) == [("a.py", "LW101")]


def test_cache_is_ignored_by_git(checked, folder):
    checked(cache_folder=".", a_py=LEAK)

    assert (folder() / FOLDER / ".gitignore").read_text(encoding="utf-8") == "*\n"


# Anything at all.

WORDS = [
    "import keras", "import tensorflow as tf", "class A(keras.Model):", "class A(A):", "\n",
    "\n    ", "\n        ", "def f(self, x=f):", "for x in x:", "while f():", "self.x", ".append(",
    ".fit(", "f(", ")", "x", "=", "+=", "[", "]", "{", "}", ",", ":", "@tf.function\n",
    "keras.Sequential(", "from . import *", "from f import *", "import f", "return", "yield",
    "lambda x: ", "if x:", "else:", "try:", "except E as x:", "with f() as x:", "del x", "global x",
    "keras.callbacks.Callback", "on_epoch_end", "1", "'s'", "*", "**", "(x := f)", "await ", "#",
    "# lowwater: allow[LW101]", "\\", "\t", "\x00", "\u202e", "\x1b[31m", "é",
]  # fmt: skip


@given(st.lists(st.sampled_from(WORDS), max_size=60).map("".join))
@settings(
    suppress_health_check=[*HealthCheck], max_examples=int(os.environ.get("LOWWATER_FUZZ", "300"))
)
def test_any_words_are_checked_or_told(text):
    everything = frozenset(cause.code for cause in one_file.judge.SOURCE_CAUSES)
    project = Project(ProjectModules([]).find, run.read_text)

    found = one_file.check("fuzz.py", text.encode(), project, everything)

    assert found.why_not == "" or found.findings == ()


@given(st.binary(max_size=200))
@settings(suppress_health_check=[*HealthCheck])
def test_any_bytes_are_checked_or_told(data):
    everything = frozenset(cause.code for cause in one_file.judge.SOURCE_CAUSES)
    for name in ("fuzz.py", "fuzz.ipynb"):
        project = Project(ProjectModules([]).find, run.read_text)

        found = one_file.check(name, data, project, everything)

        assert found.why_not == "" or found.findings == ()


def test_no_framework_is_loaded(folder):
    import subprocess

    root = folder(a_py=LEAK)
    program = (
        "from lowwater.cli import cli\nimport sys\n"
        f"cli.main(['check', {str(root)!r}], standalone_mode=False)\n"
        "print('loaded', *{name.partition('.')[0] for name in sys.modules})\n"
    )

    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    loaded = done.stdout.splitlines()[-1].split()
    assert "LW101" in done.stdout
    assert {"tensorflow", "keras", "jax", "torch", "numpy", "libcst"}.isdisjoint(loaded)
