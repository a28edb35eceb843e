"""The supervisor stays with a real process to its end, and records how that was."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from lowwater.recording.reader import load
from lowwater.recording.writer import start_recording
from lowwater.supervisor.supervisor import supervise


@pytest.fixture
def path(tmp_path):
    recording = tmp_path / "run.lw"
    os.close(start_recording(str(recording)))
    return recording


def started(program, *arguments):
    return subprocess.Popen(
        [sys.executable, "-c", program, *arguments], stdin=subprocess.PIPE, start_new_session=False
    )


def supervised(child, path, on_look=lambda: None):
    with child:
        outcome = supervise(child, str(path), on_look)
    return outcome, load(path)


def test_exit_code_is_passed_on_and_recorded(path):
    outcome, timeline = supervised(started("raise SystemExit(7)"), path)

    assert outcome.exit_code == 7
    assert (timeline.ending.exit_code, timeline.ending.signal) == (7, None)
    assert not outcome.was_stopped


def test_program_that_was_killed_has_the_exit_code_of_shells(path):
    child = started("import os, signal; os.kill(os.getpid(), signal.SIGKILL)")

    outcome, timeline = supervised(child, path)

    assert outcome.exit_code == 128 + signal.SIGKILL
    assert (timeline.ending.exit_code, timeline.ending.signal) == (None, signal.SIGKILL)
    assert not timeline.ending.out_of_memory


def test_memory_is_seen_from_outside_while_the_program_runs(path):
    child = started("kept = bytearray(64 << 20); kept[::4096] = kept[::4096]; input()")
    looks = []

    def let_it_end_at_the_third():
        looks.append(None)
        if len(looks) == 3:
            child.stdin.write(b"\n")
            child.stdin.flush()

    outcome, timeline = supervised(child, path, let_it_end_at_the_third)

    assert outcome.exit_code == 0
    assert max(look.anon_bytes for look in timeline.outside) > 32 << 20
    assert timeline.ending.peak_rss_bytes > 64 << 20


def test_recording_that_the_program_has_overwritten_is_left_alone(path):
    child = started("import sys; open(sys.argv[1], 'w').write('mine')", str(path))

    with child:
        outcome = supervise(child, str(path), lambda: None)

    assert Path(path).read_text() == "mine"
    assert len(outcome.notes) == 1
    assert outcome.exit_code == 0
