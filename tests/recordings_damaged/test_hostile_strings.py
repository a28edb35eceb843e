"""Every string of a recording is made hostile, and every screen is looked at."""

import io
import os
import re
import sys

import pytest

from lowwater import cli
from lowwater.model import tallies
from lowwater.recording.reader import load
from lowwater.report.experiments_bar import experiments_bar
from lowwater.report.live import LiveLine
from lowwater.supervisor.progress import Progress

EVIL = "\x1b[31mEVIL\x1b]0;t\x07[/data]\\[/foo]\u202e\x9b2J\r"
HARMLESS = re.compile(r"\?\[31mEVIL\?\]0;t\??\[/data\]\\\[/foo\]")
# By these names things are known: with another name they are not judged, or are refused.
KNOWN = {
    *(word for word in vars(tallies).values() if isinstance(word, str)),
    *("leak", "stops", "same", "failed", "unclear", "less", "flat"),
}
KINDS_OF_NAMES = {"columns"}


def hostile(value, *, is_name=True):
    if isinstance(value, dict):
        return {key: hostile(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [hostile(item) for item in value]
    is_word = isinstance(value, str) and is_name and value not in KNOWN
    return f"{value}{EVIL}" if is_word else value


@pytest.fixture(params=["experiments", "killed", "leaks", "models", "native"])
def evil_recording(request, whole, tmp_path, plain_records, from_plain):
    records = [
        record if record[0] in KINDS_OF_NAMES else [record[0], *map(hostile, record[1:])]
        for record in plain_records(whole[request.param])
    ]
    for record in records:
        if record[0] == "mended":
            for mending in record[1]:
                for known in ("code", "state"):
                    mending[known] = mending[known].removesuffix(EVIL)
    path = tmp_path / "run.lw"
    path.write_bytes(from_plain([*records, ["note", 1, EVIL]]))
    return path


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self):
        return True


def left_of(shown, ours=r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[78D]|\r"):
    """Control characters that are no line breaks, colours or moves of ours."""
    return [one for one in re.sub(ours, "", shown) if not one.isprintable() and one != "\n"]


@pytest.mark.parametrize("colour", [False, True])
def test_no_final_screen_lets_them_out(evil_recording, monkeypatch, colour):
    from lowwater.cli._output import print_diagnosis
    from lowwater.supervisor.session import diagnose

    stream = Terminal() if colour else io.StringIO()
    print_diagnosis(diagnose(load(evil_recording)), stream)

    assert HARMLESS.search(re.sub(r"\x1b\[[0-9;]*m|\s", "", stream.getvalue()))
    assert not left_of(stream.getvalue(), ours=r"\x1b\[[0-9;]*m")
    assert "\x1b[31mEVIL" not in stream.getvalue()


def test_the_live_line_does_not(evil_recording):
    stream = Terminal()
    size = os.terminal_size((300, 24))
    with LiveLine(stream, size=lambda: size, term="xterm") as line:
        Progress(str(evil_recording), line).look()
        line.update(EVIL)

    assert not left_of(stream.getvalue())
    assert "\x1b[31mEVIL" not in stream.getvalue()


def test_the_bar_of_experiments_does_not(evil_recording, monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    experiments = load(evil_recording).experiments
    stream = Terminal()
    with experiments_bar(stream) as bar:
        for one in experiments.rows if experiments else ():
            bar.begins(one.name)
            bar.update(EVIL)
            bar.refresh()
            bar.done(one)

    assert not left_of(stream.getvalue())
    assert "\x1b[31mEVIL" not in stream.getvalue()


def test_the_line_of_an_error_does_not(tmp_path, monkeypatch, capsys, framed):
    import msgspec

    path = tmp_path / f"{EVIL.replace('/', '')}.lw"
    path.write_bytes(framed([msgspec.msgpack.encode([EVIL, 1])]))
    monkeypatch.setattr(sys, "argv", ["lowwater", "report", str(path)])

    with pytest.raises(SystemExit) as end:
        cli.main()

    assert end.value.code == 5
    assert HARMLESS.search(capsys.readouterr().err)
    assert not left_of(capsys.readouterr().err)
