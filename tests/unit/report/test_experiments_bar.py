"""The bar of a diagnosis on a real terminal emulator, and its lines elsewhere."""

import io

import pyte
import pytest

from lowwater.model import Kind
from lowwater.model.experiment import Difference, Effect, Experiment, Measured
from lowwater.report.experiments_bar import experiments_bar

BASE = Experiment(
    "as it is", "leaks", measured=Measured(Kind.LEAK, "epoch", None, 12, 4 << 20, elapsed_s=8.0)
)
CHANGED = Experiment(
    "without your callbacks",
    "stops: the callback Saver",
    "callbacks",
    measured=Measured(Kind.FLAT, "epoch", None, 12, 0, elapsed_s=7.0),
    difference=Difference(Effect.STOPS, 1.0),
)
LEFT_OUT = Experiment("eager", "not needed", "eager")


class Terminal(io.StringIO):
    """Shows what a user would see."""

    def __init__(self):
        super().__init__()
        self.screen = pyte.Screen(100, 12)
        self._parser = pyte.Stream(self.screen)

    def isatty(self):
        return True

    def write(self, text):
        self._parser.feed(text.replace("\n", "\r\n"))
        return len(text)

    def fileno(self):
        raise OSError

    @property
    def lines(self):
        return [line.rstrip() for line in self.screen.display if line.strip()]


def told(bar):
    bar.begins("as it is")
    bar.done(BASE)
    bar.expects(BASE, 3)
    bar.begins("without your callbacks")
    bar.update("lowwater · epoch 3 · in use 80 MiB")


@pytest.fixture
def terminal(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.delenv("NO_COLOR", raising=False)
    return Terminal()


def test_bar_tells_the_run_its_number_the_time_and_what_happens_in_it(terminal):
    with experiments_bar(terminal) as bar:
        told(bar)
        bar.refresh()
        first, second, line = terminal.lines

    assert first == "as it is (8.0 s): +4.0 MiB, leaks"
    assert second == "Up to 3 more runs, about 24.0 s."
    assert "without your callbacks" in line
    assert "1 of 3" in line
    assert "left" in line
    assert "epoch 3 · in use 80 MiB" in line


def test_runs_that_are_not_needed_shorten_what_is_left_and_the_bar_goes_at_the_end(terminal):
    with experiments_bar(terminal) as bar:
        told(bar)
        bar.done(LEFT_OUT)
        bar.done(CHANGED)
        bar.begins("library leaks mended")
        bar.refresh()
        *_, line = terminal.lines

    assert "2 of 2" in line
    assert terminal.lines[-1].startswith("without your callbacks (7.0 s): +0 B, stops")


def test_elsewhere_each_run_is_a_line():
    stream = io.StringIO()

    with experiments_bar(stream) as bar:
        told(bar)
        bar.done(LEFT_OUT)
        bar.done(CHANGED)

    assert stream.getvalue().splitlines() == [
        "as it is (8.0 s): +4.0 MiB, leaks",
        "Up to 3 more runs, about 24.0 s.",
        "without your callbacks (7.0 s): +0 B, stops: the callback Saver",
    ]
