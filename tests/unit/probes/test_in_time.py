"""A question that is never answered does not hold up who asks it."""

import threading

import pytest

from lowwater.probes.in_time import NoAnswerError, Patience


def test_answer_and_error_arrive_as_if_there_were_no_thread():
    patience = Patience(60)

    assert patience.answer(lambda: 7) == 7
    with pytest.raises(KeyError, match="why"):
        patience.answer(lambda: {}["why"])


def test_question_that_hangs_is_given_up_and_no_other_is_asked_until_it_returns():
    asked, may_end = [], threading.Event()
    patience = Patience(0.01)

    with pytest.raises(NoAnswerError):
        patience.answer(may_end.wait)
    with pytest.raises(NoAnswerError):
        patience.answer(lambda: asked.append("meanwhile"))
    may_end.set()
    [hanging] = [one for one in threading.enumerate() if one.name == "lowwater-asks"]
    hanging.join()

    assert Patience(60).answer(lambda: 1) == 1
    assert patience.answer(lambda: 2) == 2
    assert asked == []


def test_at_the_end_of_the_interpreter_it_is_asked_without_a_thread(monkeypatch):
    def refuse(_):
        raise RuntimeError("can't create new thread at interpreter shutdown")

    monkeypatch.setattr(threading.Thread, "start", refuse)

    assert Patience(60).answer(lambda: 7) == 7
