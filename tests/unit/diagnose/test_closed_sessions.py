"""A session is closed when its line opens the next."""

from types import SimpleNamespace

from lowwater.diagnose.factors.closed_sessions import ClosedSessions
from lowwater.diagnose.facts import Facts
from lowwater.model import Finding


class Session:
    is_open = True

    def close(self):
        self.is_open = False


class Placed:
    """Stands for `Change`, and gives what was placed into the making of a session."""

    def when_imported(self, library, act):
        assert library == "tensorflow.python.client.session"
        act(SimpleNamespace(BaseSession=Session))

    def rebind(self, _function, _argument, changed):
        self.made = changed


def test_the_last_one_of_the_same_line_is_closed_and_those_of_others_are_not():
    ClosedSessions().apply(placed := Placed(), "")

    placed.made(other := Session())
    sessions = [Session() for _ in range(3)]
    for session in sessions:
        placed.made(session)

    assert other.is_open
    assert [one.is_open for one in sessions] == [False, False, True]


def test_it_applies_where_sessions_were_found_to_stay_open():
    found = Finding("LW204", "", "", "", "train.py:3")

    assert ClosedSessions().why_not(Facts.of({}, [found])) is None
    assert ClosedSessions().why_not(Facts.of({})) == "no session is left open"
