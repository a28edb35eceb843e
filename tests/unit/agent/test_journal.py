"""All parts of the agent write into one journal, which a forked child closes first of all."""

import pytest

from lowwater.agent.clocks import Clocks
from lowwater.agent.journal import Journal
from lowwater.model import Topic
from lowwater.recording.records import FactsTold, Learned, Noted
from lowwater.recording.writer import Writer


class Written(list):
    """A writer that remembers."""

    is_closed = False

    def append(self, record, elapsed_us=0):
        super().append(record)

    def close(self):
        self.is_closed = True


@pytest.fixture
def written():
    return Written()


@pytest.fixture
def journal(written):
    now_s = iter([100.0, 102.5, 103.0])
    return Journal(written, Clocks(wall=lambda: next(now_s)))


def test_note_has_the_time_since_the_start_and_is_written_once(journal, written):
    journal.note("memray was not started")
    journal.note("memray was not started")

    assert written == [Noted(2_500_000, "memray was not started", Topic.PROGRAM)]


def test_notes_are_limited_in_number_and_length(tmp_path, written):
    journal = Journal(written)
    for number in range(1000):
        journal.note(f"{number} " + "x" * 5000)

    assert len(written) == 200
    assert max(len(note.text) for note in written) == 1000


def test_facts_are_told_under_their_names(journal, written):
    journal.learn({"keras": "3.12"})
    journal.tell_facts({"loop_left": "train.py:7"})

    assert written == [Learned({"keras": "3.12"}), FactsTold({"loop_left": "train.py:7"})]


def test_closed_journal_writes_nothing_more(journal, written):
    journal.close()
    journal.note("too late")
    journal.record(Learned({}))

    assert written == []
    assert written.is_closed


def test_first_thing_a_forked_child_does_is_to_leave_the_recording_alone(tmp_path):
    path = tmp_path / "run.lw"
    journal = Journal(Writer(str(path)))
    size = path.stat().st_size
    for function, *arguments in journal.in_child:
        function(*arguments)
    journal.record(Learned({"a": "b"}))
    journal.note("from the child")

    assert path.stat().st_size == size
