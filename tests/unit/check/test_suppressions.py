"""`# lowwater: allow[LW101] reason` takes a finding away, and is itself looked at."""

import pytest

from lowwater.check.config import CheckOptions

LEAK = """
import keras

class Keep(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        self.kept.append(self.model.predict(self.x)){0}
"""


def told(report):
    return [(one.code, one.span.line, one.message) for one in report.findings]


def test_finding_is_there_without_a_comment(checked):
    assert [code for code, _, _ in told(checked(a_py=LEAK.format("")))] == ["LW101"]


@pytest.mark.parametrize(
    "text",
    [
        LEAK.format("  # lowwater: allow[LW101] replay needs them"),
        LEAK.format("  # lowwater: allow[LW101, LW101] replay needs them"),
        LEAK.format("").replace(
            "        self.kept",
            "        # lowwater: allow[LW101] replay needs them\n        # more\n        self.kept",
        ),
    ],
)
def test_comment_with_a_reason_suppresses(checked, text):
    assert told(checked(a_py=text)) == []


def test_comment_without_a_reason_is_reported(checked):
    report = checked(a_py=LEAK.format("  # lowwater: allow[LW101]"))

    assert told(report) == [("LW001", 5, "This suppression has no reason.")]


def test_comment_without_a_finding_is_reported(checked):
    text = "import keras\nx = []  # lowwater: allow[LW101] replay needs them"

    assert told(checked(a_py=text)) == [
        ("LW001", 2, "Nothing to suppress: LW101 is not found here.")
    ]


def test_comment_for_another_code_leaves_the_finding(checked):
    report = checked(a_py=LEAK.format("  # lowwater: allow[LW102] replay needs them"))

    assert [code for code, _, _ in told(report)] == ["LW101", "LW001"]


def test_comment_for_a_code_that_is_not_looked_for_is_not_idle(checked):
    text = LEAK.format("  # lowwater: allow[LW101] replay needs them")

    assert told(checked(CheckOptions(ignore=("LW1",)), a_py=text)) == []


def test_text_that_only_looks_like_a_comment_does_nothing(checked):
    text = 'import keras\nx = "# lowwater: allow[LW101]"'

    assert told(checked(a_py=text)) == []


def test_comment_that_names_no_code_is_reported(checked):
    report = checked(a_py="import keras  # lowwater: allow[] why not")

    assert told(report) == [("LW001", 1, "This comment names no code.")]
