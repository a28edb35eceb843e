"""The live line stays on the last row, and the program's output is as it would be without it."""

import contextlib
import io
import os
import pty
import select
import subprocess
import sys
import termios
from collections.abc import Callable

import pyte
import pytest

from lowwater.report.live import LiveLine, live_text

MIB = 1 << 20
ROWS, COLUMNS = 10, 60


class Terminal(io.StringIO):
    """A real terminal emulator that the program and the live line both write to."""

    def __init__(self, rows: int = ROWS, columns: int = COLUMNS) -> None:
        super().__init__()
        self.screen = pyte.Screen(columns, rows)
        self._parser = pyte.Stream(self.screen)

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        # A terminal driver turns line feeds into new lines.
        self._parser.feed(text.replace("\n", "\r\n"))
        return len(text)

    def size(self) -> os.terminal_size:
        return os.terminal_size((self.screen.columns, self.screen.lines))

    @property
    def lines(self) -> list[str]:
        return [line.rstrip() for line in self.screen.display]

    @property
    def cursor(self) -> tuple[int, int]:
        return self.screen.cursor.y, self.screen.cursor.x

    @property
    def has_whole_region(self) -> bool:
        return self.screen.margins in (None, (0, self.screen.lines - 1))


def live_on(terminal: Terminal) -> LiveLine:
    return LiveLine(terminal, size=terminal.size, term="xterm")


def without_live_line(*writes: str) -> Terminal:
    terminal = Terminal()
    for text in writes:
        terminal.write(text)
    return terminal


def test_live_text_tells_unit_bytes_and_growth() -> None:
    text = live_text("epoch", 12, 200 * MIB, 4 * MIB, 79)

    assert text == "lowwater · epoch 12 · in use 200.0 MiB · +4.0 MiB per epoch"


def test_live_text_says_only_what_is_known() -> None:
    assert live_text("epoch", 1, 200 * MIB, None, 79) == "lowwater · epoch 1 · in use 200.0 MiB"
    assert live_text("fold", 1, None, None, 79) == "lowwater · fold 1 · in use not measured"


def test_live_text_gives_up_our_name_before_it_is_cut() -> None:
    text = live_text("epoch", 12, 200 * MIB, 4 * MIB, 50)

    assert text == "epoch 12 · in use 200.0 MiB · +4.0 MiB per epoch"
    assert live_text("epoch", 12, 200 * MIB, 4 * MIB, 11) == "epoch 12 ·"
    assert live_text("epoch", 12, 200 * MIB, 4 * MIB, 0) == ""


def test_live_text_counts_wide_characters_as_two() -> None:
    assert live_text("世代", 1, None, None, 7) == "世代 1"


def test_live_text_stays_one_harmless_line() -> None:
    text = live_text("a\nb\x1b[2J", 1, None, None, 79)

    assert text == "lowwater · a b?[2J 1 · in use not measured"


def test_program_scrolls_above_and_the_last_row_is_ours() -> None:
    terminal = Terminal()

    with live_on(terminal) as live:
        for number in range(30):
            terminal.write(f"loss {number}\n")
            live.update(f"epoch {number}")

        assert terminal.lines[-1] == "epoch 29"
        assert terminal.lines[:-1] == [*(f"loss {number}" for number in range(22, 30)), ""]


def test_no_residue_is_left_and_the_cursor_is_where_the_program_left_it() -> None:
    terminal = Terminal()

    with live_on(terminal) as live:
        for number in range(30):
            terminal.write(f"loss {number}\n")
            live.update(f"epoch {number}")
        terminal.write("half a line")
        cursor = terminal.cursor

    assert terminal.cursor == cursor
    assert terminal.lines == [*(f"loss {number}" for number in range(22, 30)), "half a line", ""]
    assert terminal.has_whole_region


@pytest.mark.parametrize("before", ["", "one\n", "\n" * ROWS, "prompt> ", "\n" * ROWS + "prompt> "])
def test_short_output_looks_as_without_the_live_line(before: str) -> None:
    terminal = Terminal()
    terminal.write(before)

    with live_on(terminal) as live:
        live.update("epoch 1")
        terminal.write("loss 0.5\n")
        live.update("epoch 2")
        terminal.write("done")

    plain = without_live_line(before, "loss 0.5\n", "done")
    assert [line for line in terminal.lines if line] == [line for line in plain.lines if line]
    assert terminal.cursor[1] == plain.cursor[1]


def test_progress_bar_that_returns_to_the_line_start_is_not_disturbed() -> None:
    terminal = Terminal()
    terminal.write("\n" * ROWS)

    with live_on(terminal) as live:
        for step in range(5):
            terminal.write(f"\r{step}/4 [{'=' * step}")
            live.update(f"step {step}")
        terminal.write("]\n")

    assert [line for line in terminal.lines if line] == ["4/4 [====]"]


def test_colour_of_the_program_survives_an_update() -> None:
    terminal = Terminal()

    with live_on(terminal) as live:
        terminal.write("\x1b[31mred ")
        live.update("epoch 1")
        terminal.write("still red")

    assert {terminal.screen.buffer[0][column].fg for column in range(13)} == {"red"}
    assert terminal.screen.buffer[ROWS - 1][0].data == " "


def test_shorter_text_leaves_nothing_of_a_longer_one() -> None:
    terminal = Terminal()

    with live_on(terminal) as live:
        live.update("epoch 1 of a very long name")
        live.update("epoch 2")

        assert terminal.lines[-1] == "epoch 2"


def test_background_of_the_program_does_not_spread_to_our_row() -> None:
    terminal = Terminal()

    with live_on(terminal) as live:
        terminal.write("\x1b[41malert")
        live.update("epoch 1")

        assert {terminal.screen.buffer[ROWS - 1][column].bg for column in (0, 40)} == {"default"}


def test_program_that_clears_the_screen_loses_the_line_only_until_the_next_update() -> None:
    terminal = Terminal()

    with live_on(terminal) as live:
        live.update("epoch 1")
        terminal.write("\x1b[r\x1b[2J\x1b[Hfresh\n")
        live.update("epoch 2")
        terminal.write("more\n" * 20)

        assert terminal.lines == [*["more"] * (ROWS - 2), "", "epoch 2"]


@pytest.mark.parametrize("rows", [6, 9, 11, 20])
def test_resized_terminal_has_one_live_line_and_no_residue(rows: int) -> None:
    terminal = Terminal()

    with live_on(terminal) as live:
        terminal.write("loss\n" * 20)
        live.update("epoch 1")
        terminal.screen.resize(rows, COLUMNS)
        live.update("epoch 2")
        terminal.write("tail\n")

        assert terminal.lines[-1] == "epoch 2"
        assert "epoch 1" not in terminal.lines

    assert "epoch 2" not in terminal.lines
    assert "tail" in terminal.lines
    assert terminal.has_whole_region


def test_terminal_resized_just_before_the_end_keeps_no_residue() -> None:
    terminal = Terminal()

    with live_on(terminal) as live:
        terminal.write("loss\n")
        live.update("epoch 1")
        terminal.screen.resize(20, COLUMNS)

    assert [line for line in terminal.lines if line] == ["loss"]
    assert terminal.has_whole_region


def test_terminal_that_becomes_too_small_is_given_back() -> None:
    terminal = Terminal()

    with live_on(terminal) as live:
        live.update("epoch 1")
        terminal.screen.resize(4, COLUMNS)
        live.update("epoch 2")

        assert not any(terminal.lines)
        assert terminal.has_whole_region
        assert live.width == 0


def test_error_in_the_block_gives_the_terminal_back() -> None:
    terminal = Terminal()

    with contextlib.suppress(KeyboardInterrupt), live_on(terminal) as live:
        live.update("epoch 1")
        raise KeyboardInterrupt

    assert not any(terminal.lines)
    assert terminal.has_whole_region


class Recorder(io.StringIO):
    """Remembers what is written; a terminal or not, as told."""

    def __init__(self, *, is_terminal: bool) -> None:
        super().__init__()
        self._is_terminal = is_terminal

    def isatty(self) -> bool:
        return self._is_terminal


def written(*, is_terminal: bool, term: str, size: Callable[[], os.terminal_size]) -> str:
    stream = Recorder(is_terminal=is_terminal)
    with LiveLine(stream, size=size, term=term) as live:
        live.update("epoch 1")
    return stream.getvalue()


def sized(rows: int) -> Callable[[], os.terminal_size]:
    return lambda: os.terminal_size((COLUMNS, rows))


def no_size() -> os.terminal_size:
    raise OSError


def test_nothing_is_written_where_no_live_line_belongs() -> None:
    assert "epoch 1" in written(is_terminal=True, term="xterm", size=sized(5))

    assert not written(is_terminal=False, term="xterm", size=sized(24))
    assert not written(is_terminal=True, term="dumb", size=sized(24))
    assert not written(is_terminal=True, term="", size=sized(24))
    assert not written(is_terminal=True, term="xterm", size=sized(4))
    assert not written(is_terminal=True, term="xterm", size=sized(0))
    assert not written(is_terminal=True, term="xterm", size=no_size)


def test_run_without_updates_writes_nothing() -> None:
    stream = Recorder(is_terminal=True)

    with LiveLine(stream, size=sized(24), term="xterm"):
        pass

    assert not stream.getvalue()


def test_terminal_that_goes_away_is_no_error() -> None:
    stream = Recorder(is_terminal=True)

    with LiveLine(stream, size=sized(24), term="xterm") as live:
        live.update("epoch 1")
        stream.close()
        live.update("epoch 2")


def test_ascii_terminal_gets_ascii() -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    stream.isatty = lambda: True  # type: ignore[method-assign]

    with LiveLine(stream, size=sized(24), term="xterm") as live:
        live.update("lowwater · epoch 1")

    assert b"lowwater | epoch 1" in stream.buffer.getvalue()


SUPERVISOR = """
import subprocess, sys
from lowwater.report.live import LiveLine

program = [sys.executable, "-c", "for n in range(15): print('loss', n)"]
with LiveLine(sys.stderr) as live:
    live.update("epoch 1")
    subprocess.run(program, check=True)
    live.update("epoch 2")
    print("last words", flush=True)
print("report", flush=True)
"""


def read_all(master: int) -> bytes:
    read = b""
    while select.select([master], [], [], 20)[0]:
        try:
            chunk = os.read(master, 65536)
        except OSError:  # Linux says EIO once the last writer is gone.
            break
        if not chunk:
            break
        read += chunk
    return read


def test_real_program_on_a_real_terminal_is_not_garbled() -> None:
    master, slave = pty.openpty()
    termios.tcsetwinsize(slave, (ROWS, COLUMNS))
    environment = {**os.environ, "TERM": "xterm"}
    command = [sys.executable, "-c", SUPERVISOR]
    with subprocess.Popen(
        command, stdin=slave, stdout=slave, stderr=slave, env=environment
    ) as process:
        os.close(slave)
        output = read_all(master)
    os.close(master)
    screen = pyte.Screen(COLUMNS, ROWS)
    pyte.ByteStream(screen).feed(output)

    lines = [line.rstrip() for line in screen.display]
    assert process.returncode == 0
    assert b"epoch 2" in output
    assert [line for line in lines if line] == [
        *(f"loss {number}" for number in range(8, 15)),
        "last words",
        "report",
    ]
