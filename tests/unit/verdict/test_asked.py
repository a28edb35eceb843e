"""A question is answered and noted at once, with its number and the threshold it was held to."""

import pytest

from lowwater.model import Question
from lowwater.model.policy import POLICY
from lowwater.testing import a_run
from lowwater.verdict import judge
from lowwater.verdict.asked import UNNOTED, Asked


@pytest.mark.parametrize(
    ("ask", "sign", "below", "equal", "above"),
    [
        ("at_least", "≥", False, True, True),
        ("at_most", "≤", True, True, False),
        ("more_than", ">", False, False, True),
        ("less_than", "<", True, False, False),
    ],
)
def test_a_number_is_compared_with_the_threshold_of_that_name(ask, sign, below, equal, above):
    asked = Asked()
    rounds = POLICY.enough_rounds

    answers = [
        getattr(asked, ask)("Enough?", number, "enough_rounds")
        for number in (rounds - 1, rounds, rounds + 1)
    ]

    assert answers == [below, equal, above]
    assert [question.answer for question in asked.questions] == answers
    assert {(q.sign, q.threshold_name, q.threshold) for q in asked.questions} == {
        (sign, "enough_rounds", rounds)
    }


def test_beside_a_share_the_share_is_noted_that_was_measured():
    asked = Asked()

    assert asked.at_most("Little?", 10, "freed_little", of=100)

    [question] = asked.questions
    assert question.measured == pytest.approx(0.1)
    assert question.threshold == POLICY.freed_little


def test_there_is_no_share_of_nothing_but_an_answer():
    asked = Asked()

    assert not asked.at_most("Little?", 10, "freed_little", of=0)
    assert asked.questions[0].measured is None


def test_a_threshold_may_be_a_power_of_one_in_the_policy():
    asked = Asked()

    assert asked.less_than("Much slower?", 20, "alike**-2", of=100)
    assert asked.questions[0].threshold == POLICY.alike**-2


def test_a_name_that_the_policy_does_not_have_is_refused():
    with pytest.raises(AttributeError):
        Asked().at_least("Enough?", 1, "no_such_threshold")


def test_questions_keep_their_order_and_topic_and_are_noted_once():
    asked = Asked()
    asked.about("First")
    asked.whether("Any?", answer=[], measured=0)
    asked.whether("Any?", answer=[], measured=0)
    asked.about("Second")
    asked.whether("Any?", answer=[], measured=0)

    assert asked.questions == (
        Question("First", "Any?", answer=False, measured=0),
        Question("Second", "Any?", answer=False, measured=0),
    )


def test_what_is_not_noted_is_answered_alike():
    assert UNNOTED.at_least("Enough?", POLICY.enough_rounds, "enough_rounds")
    assert not UNNOTED.at_least("Enough?", POLICY.enough_rounds - 1, "enough_rounds")
    assert UNNOTED.questions == ()


def texts_of(run):
    verdict, _ = judge(run.timeline())
    return {question.text: question.answer for question in verdict.questions}


def test_a_leak_was_asked_about_until_nothing_else_explained_it():
    texts = texts_of(a_run(12).grows(mib=4))

    assert texts["Is the growth beyond noise?"]
    assert texts["Are there enough rounds?"]
    assert [*texts.items()][-1] == ("Does another part of the run explain it?", False)


def test_a_run_that_is_too_short_was_asked_nothing_else():
    [text] = texts_of(a_run(3).grows(mib=4))

    assert text == "Are there enough samples?"


def test_questions_do_not_make_another_verdict():
    verdict, _ = judge(a_run(12).grows(mib=4).timeline())
    again, _ = judge(a_run(12).grows(mib=4).timeline())

    assert verdict == again
    assert "questions" not in repr(verdict)
