"""Notebooks are read cell by cell, magics and all."""

import json

import pytest

from lowwater.check.notebook import NoNotebook, python_of, read


def a_notebook(*cells, **more):
    return json.dumps(
        {
            "cells": [
                {"cell_type": "code", "source": one.splitlines(keepends=True)}
                if not one.startswith("# ")
                else {"cell_type": "markdown", "source": one}
                for one in cells
            ],
            "nbformat": 4,
            **more,
        }
    ).encode()


CALLBACK = """class Keep(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        self.kept.append(self.model.predict(self.x))"""


def test_finding_has_its_cell_and_line(checked):
    cells = ("# A title", "%pip install keras\nimport keras", "!ls\n\n" + CALLBACK)
    report = checked(train_nb=a_notebook(*cells))

    [finding] = report.findings
    assert (finding.path, finding.cell, finding.span.line) == ("train.ipynb", 3, 5)
    assert finding.code_lines[-1].strip() == "self.kept.append(self.model.predict(self.x))"


def test_suppression_in_a_cell_is_heard(checked):
    text = CALLBACK + "  # lowwater: allow[LW101] a demo"

    assert checked(train_nb=a_notebook("import keras", text)).findings == ()


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("%matplotlib inline\nx = 1", ["pass", "x = 1"]),
        ("if x:\n    !pip install \\\n  keras\ny = 2", ["if x:", "    pass", "", "y = 2"]),
        ("files = !ls\nn = %timeit -o f()", ["files = None", "n = None"]),
        ("model.fit?\nx = 1", ["pass", "x = 1"]),
        ("%%time\nx = 1", ["", "x = 1"]),
        ("%%bash\nrm -rf x", ["", ""]),
        ("print('%s'\n  % (x)\n)\n%ls", ["print('%s'", "  % (x)", ")", "pass"]),
        ("x = ('a = %s'\n % y)", ["x = ('a = %s'", " % y)"]),
        ("  for n in x:\n    print(n)", ["for n in x:", "  print(n)"]),
        ("x = 5 % 3\ny != 2", ["x = 5 % 3", "y != 2"]),
    ],
)
def test_magics_become_python_on_the_same_lines(source, lines):
    assert python_of(source).lines == lines


def test_cell_that_is_no_python_is_told_and_the_rest_is_checked(checked):
    report = checked(a_nb=a_notebook("import keras", "ls ./data", CALLBACK))

    assert [one.why for one in report.unchecked] == [
        "cell 2: not valid Python: invalid syntax (line 1)"
    ]
    assert [(one.cell, one.code) for one in report.findings] == [(3, "LW101")]


def test_cell_that_is_indented_has_its_own_columns(checked):
    text = "\n".join(f"  {line}" for line in CALLBACK.splitlines())
    [finding] = checked(a_nb=a_notebook("import keras", text)).findings

    assert (finding.span.line, finding.span.column) == (3, 11)
    assert finding.code_lines[-1].index("self.kept") == 10


@pytest.mark.parametrize(
    "data", [b"", b"{", b"[]", b"{}", b'{"cells": 3}', b"\xff\xfe", b"[" * 100_000, b"null"]
)
def test_what_is_no_notebook_is_told(data):
    with pytest.raises(NoNotebook):
        read(data)


@pytest.mark.parametrize(
    "cell", [None, 3, {}, {"cell_type": "code"}, {"cell_type": "code", "source": [1, None]}]
)
def test_odd_cells_are_passed_over(cell):
    assert read(json.dumps({"cells": [cell]}).encode()).text.strip() == ""
