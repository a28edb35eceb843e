"""LW204 in the source: sessions that are kept open."""

import pytest

from lowwater.testing import findings_in

HEAD = "import tensorflow.compat.v1 as tf\njobs = []\n"


def codes(text):
    return [one.code for one in findings_in(text)]


def test_kept_sessions_are_found():
    [finding] = findings_in(
        f"{HEAD}for job in range(9):\n    session = tf.Session()\n    jobs.append(session)\n"
    )

    assert (finding.code, finding.span.line) == ("LW204", 5)
    assert finding.message == "`jobs` keeps the open session of every iteration."


def test_objects_that_have_a_session_are_found():
    text = (
        "class Version:\n    def __init__(self):\n        self.session = tf.Session()\n"
        "versions = {}\nfor number in range(9):\n    versions[number] = Version()\n"
    )

    assert codes(HEAD + text) == ["LW204"]
    assert codes(f"{HEAD}{text}    versions.pop(number - 1, None)\n") == []


@pytest.mark.parametrize(
    "body",
    [
        "session = tf.Session()\n    session.run(op)",
        "session = tf.Session()\n    jobs.append(session)\n    session.close()",
        "session = tf.Session()\n    jobs.append(session.run(op))",
        "with tf.Session() as session:\n        jobs.append(session)",
        "session = tf.Session()\n    jobs.append(session)\n    del jobs[0]",
    ],
)
def test_sessions_that_are_closed_or_dropped_are_acquitted(body):
    assert codes(f"{HEAD}for job in range(9):\n    {body}\n") == []


def test_sessions_that_are_closed_at_the_end_are_acquitted():
    kept = "for job in range(9):\n    jobs.append(tf.Session())\n"

    assert codes(HEAD + kept) == ["LW204"]
    assert codes(f"{HEAD}{kept}for session in jobs:\n    session.close()\n") == []
