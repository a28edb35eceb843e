from dataclasses import replace
from pathlib import Path

import pytest

from lowwater.model import Kind, Unit, Verdict
from lowwater.testing import a_run, together
from replay import measure
from replay.first_line import Truth
from replay.measure import Answer, Outcome, differs, faults_of, flaps, prefixes, unit_of
from replay.recordings import Recorded, recordings

RUN = Recorded("made_up", "quiet", Path("made_up/quiet.lw"))
LEAK, INNOCENT = Truth("leak", 100, unit="epoch"), Truth("no leak")
FILL = Truth("no leak", fills_until=8)
EPOCH = Unit(1, "epoch")


def said(kind, rounds=12, truth=LEAK, interval=(90, 110), **options):
    verdict = Verdict(kind, "it was told so", EPOCH, rounds, 100, interval)
    return Answer(RUN, truth, rounds, verdict, **options)


@pytest.mark.parametrize(
    ("truth", "kind", "rounds", "outcome"),
    [
        (LEAK, Kind.LEAK, 5, Outcome.RIGHT),
        (LEAK, Kind.INCONCLUSIVE, 5, Outcome.INCONCLUSIVE),
        (LEAK, Kind.FLAT, 5, Outcome.WRONG),
        (INNOCENT, Kind.CACHE, 12, Outcome.RIGHT),
        (INNOCENT, Kind.LEAK, 12, Outcome.WRONG),
        (FILL, Kind.LEAK, 8, Outcome.FILLING),
        (FILL, Kind.LEAK, 12, Outcome.WRONG),
    ],
)
def test_answer_is_worth_what_the_truth_makes_it(truth, kind, rounds, outcome):
    assert said(kind, rounds, truth).outcome is outcome


@pytest.mark.parametrize(("rounds", "is_late"), [(11, False), (12, True)])
def test_fill_must_be_acquitted_four_rounds_after_it_stopped(rounds, is_late):
    assert said(Kind.INCONCLUSIVE, rounds, FILL).is_late is is_late


def test_interval_has_to_contain_the_stated_rate():
    assert not said(Kind.LEAK).misses_rate
    assert said(Kind.LEAK, interval=(103, 110)).misses_rate
    assert not said(Kind.LEAK, interval=(103, 110), truth=replace(LEAK, is_about=True)).misses_rate


def test_leak_that_is_said_and_taken_back_is_a_fault():
    answers = [said(Kind.LEAK, 6), said(Kind.CACHE, 7), said(Kind.LEAK, 8)]

    assert flaps(answers) == answers[1:2]
    assert faults_of(answers) == {"taken back": answers[1:2]}


def test_leak_that_is_doubted_again_is_counted_elsewhere():
    answers = [said(Kind.LEAK, 6), said(Kind.INCONCLUSIVE, 7), said(Kind.LEAK, 8)]

    assert flaps(answers) == answers[1:2]
    assert not faults_of(answers)


def test_trickle_is_no_wrong_answer_on_a_leak():
    """It is growth for certain, and says that a longer run tells what it is."""
    assert not faults_of([said(Kind.TRICKLE, 12)])


def test_wrong_answer_on_few_rounds_is_counted_elsewhere():
    assert not faults_of([said(Kind.FLAT, 11)])
    assert faults_of([said(Kind.FLAT, 12)])


def test_copy_with_few_samples_may_be_inconclusive_but_not_wrong():
    original = said(Kind.LEAK)

    assert not differs(said(Kind.INCONCLUSIVE, samples=11), original)
    assert differs(said(Kind.INCONCLUSIVE, samples=12), original)
    assert differs(said(Kind.FLAT, samples=11), original)


def test_unit_of_the_truth_is_the_stated_one_else_the_coarsest_with_rounds_enough():
    timeline = together(
        a_run(epochs=3),
        a_run(epochs=40, unit="iteration", where="train.py:3"),
        a_run(epochs=14, unit="iteration", where="train.py:1"),
        a_run(epochs=900, unit="time"),
    )

    assert unit_of(timeline, LEAK).name == "epoch"
    assert unit_of(timeline, INNOCENT).where == "train.py:1"
    assert unit_of(timeline, Truth("leak", unit="iteration", where="train.py:3")).id == 2


def test_prefixes_are_all_rounds_from_the_fifth_on_and_fewer_far_out(monkeypatch):
    timeline = a_run(epochs=60).grows(mib=4).timeline()
    monkeypatch.setattr(Recorded, "timeline", lambda _: timeline)
    monkeypatch.setattr(Recorded, "truth", LEAK)
    monkeypatch.setattr(measure, "verdict_on", lambda _: said(Kind.LEAK).verdict)

    rounds = [answer.rounds for answer in prefixes(RUN)]

    assert rounds[:26] == list(range(5, 31))
    assert rounds[26:] == [34, 39, 45, 52, 60]


def test_recordings_are_found_by_specimen_and_run(tmp_path):
    for name in ("callback_leaks/busy-1.lw", "callback_flat/recording", "no_specimen/quiet.lw"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()

    found = [str(one) for one in recordings(tmp_path)]

    assert found == ["callback_flat/recording", "callback_leaks/busy-1"]
    assert [str(one) for one in recordings(tmp_path, "leaks")] == ["callback_leaks/busy-1"]
