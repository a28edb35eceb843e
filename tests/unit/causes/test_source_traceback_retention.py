"""LW105 in the source: exceptions that are kept, with the frames of what failed."""

import pytest

from lowwater.testing import findings_in


def program(kept, tried="score(trial)", before="errors = []"):
    return f"""
import tensorflow as tf

def score(trial):
    data = tf.random.normal((1000, trial))
    return float(tf.reduce_mean(data))

{before}
for trial in range(100):
    try:
        {tried}
    except ValueError as error:
        {kept}
"""


def codes(text):
    return [one.code for one in findings_in(text)]


def test_exceptions_of_calls_with_data_are_found():
    [finding] = findings_in(program("errors.append(error)"))

    assert finding.code == "LW105"
    assert finding.message == (
        "`errors` keeps the exception of every failed iteration, and with it all data of the "
        "failed call."
    )


@pytest.mark.parametrize(
    ("kept", "before"),
    [
        ("errors.append((trial, error))", "errors = []"),
        ("errors[trial] = error", "errors = {}"),
        ("errors += [error]", "errors = []"),
    ],
)
def test_every_way_to_keep_one_is_found(kept, before):
    assert codes(program(kept, before=before)) == ["LW105"]


@pytest.mark.parametrize(
    "kept",
    [
        "errors.append(repr(error))",
        "errors.append(str(error))",
        "errors.append(error.with_traceback(None))",
        "errors.append(type(error))",
        "errors.append(f'{trial}: {error}')",
        "last = error",
        "errors.append(error); errors.clear()",
        "errors.append(error); break",
        "errors.append(error); errors[:] = errors[-3:]",
    ],
)
def test_what_keeps_no_frames_is_acquitted(kept):
    assert codes(program(kept)) == []


def test_exceptions_of_calls_without_data_are_acquitted():
    assert codes(program("errors.append(error)", tried="int(names[trial])")) == []
