"""`lowwater report`: what is no recording ends with 5 and one sentence; --why adds questions."""

import os
import sys

import pytest
from click.testing import CliRunner

from lowwater import cli
from lowwater.cli.report import command
from replay.recordings import RECORDINGS


def folder(path):
    path.mkdir()


def fifo(path):
    os.mkfifo(path)


def empty(path):
    path.touch()


def loop(path):
    path.symlink_to(path)


def text(path):
    path.write_text("epoch 1\n")


def nothing(_path):
    pass


def device(path):
    path.symlink_to("/dev/zero")


@pytest.fixture
def report(monkeypatch, capsys):
    def run(path):
        monkeypatch.setattr(sys, "argv", ["lowwater", "report", str(path)])
        with pytest.raises(SystemExit) as end:
            cli.main()
        return end.value.code, capsys.readouterr().err

    return run


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (folder, "is not a regular file"),
        (fifo, "is not a regular file"),
        (device, "is not a regular file"),
        (empty, "is not a Lowwater recording (received: an empty file)"),
        (text, "is not a Lowwater recording (received: b'epoch 1\\n')"),
        (loop, "(received: Too many levels of symbolic links)"),
        (nothing, "(received: No such file or directory)"),
    ],
)
def test_what_is_no_recording_is_refused_in_one_line(tmp_path, report, make, sentence):
    path = tmp_path / "run.lw"
    make(path)

    code, told = report(path)

    assert code == 5
    assert told.startswith("error: ")
    assert told.count("\n") == 1
    assert sentence in told


def test_a_file_that_may_not_be_read_is_refused(tmp_path, report, monkeypatch):
    path = tmp_path / "run.lw"
    path.touch(mode=0)
    if os.geteuid() == 0:  # who may read everything
        really = os.open

        def denied(name, *rest):
            if str(name) == str(path):
                raise PermissionError(13, "Permission denied")
            return really(name, *rest)

        monkeypatch.setattr(os, "open", denied)

    assert report(path) == (5, f"error: cannot read {path} (received: Permission denied).\n")


def test_no_descriptor_is_left_open(tmp_path, report):
    (tmp_path / "run.lw").mkdir()
    before = len(os.listdir("/proc/self/fd"))

    report(tmp_path / "run.lw")

    assert len(os.listdir("/proc/self/fd")) == before


def test_why_adds_the_questions_behind_the_verdict():
    recording = str(RECORDINGS / "six_epochs_flat" / "quiet.lw")

    plain, why = (CliRunner().invoke(command, [*more, recording]) for more in ([], ["--why"]))

    assert (plain.exit_code, why.exit_code) == (0, 0)
    assert "Why flat: epoch" in why.output
    assert "jumps_that_recur" in why.output
    assert "Why flat" not in plain.output


def test_why_is_in_the_help():
    assert "--why" in CliRunner().invoke(command, ["--help"]).output
