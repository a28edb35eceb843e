"""What could not be changed is told, once."""

import sys

import pytest

from lowwater.diagnose.change import Change
from lowwater.model import Topic


@pytest.fixture(autouse=True)
def finders(monkeypatch):
    """A change waits for Keras to be imported; here nothing is to happen then."""
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path])


def test_same_reason_is_told_once():
    notes = []
    change = Change(lambda *said: notes.append(said))

    for _ in range(3):
        change.failed("fit has no source")
    change.failed("predict has none")

    assert notes == [
        ("fit has no source", Topic.NOT_MADE),
        ("predict has none", Topic.NOT_MADE),
    ]


def test_what_fails_in_a_round_is_told_and_the_program_goes_on():
    notes = []
    change = Change(lambda *said: notes.append(said))
    change.in_every_round(lambda: 1 / 0)

    change.rounds.passed()

    assert notes == [("ZeroDivisionError: division by zero", Topic.NOT_MADE)]
