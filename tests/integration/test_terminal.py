"""On a terminal there is a live line below the program's own output, and nothing is left of it."""

import sys

import pexpect
import pyte
import pytest

ROWS, COLUMNS = 24, 80


@pytest.fixture
def screen():
    return pyte.Screen(COLUMNS, ROWS)


def run_on(screen, command, folder, env):
    """Run a command on a real pseudo-terminal; every frame that the terminal showed."""
    child = pexpect.spawn(
        command[0], command[1:], cwd=folder, env=env, dimensions=(ROWS, COLUMNS), timeout=60
    )
    stream, frames = pyte.ByteStream(screen), []
    while True:
        try:
            stream.feed(child.read_nonblocking(4096, timeout=60))
        except pexpect.EOF:
            break
        frames.append([line.rstrip() for line in screen.display])
    child.close()
    return child, frames


def test_the_live_line_stays_at_the_bottom_and_leaves_no_residue(programs, screen):
    programs.write(
        "train.py",
        """\
        import time
        kept = []
        for epoch in range(40):
            kept.append(bytearray(2_000_000))
            print("epoch", epoch, flush=True)
            time.sleep(0.1)
        """,
    )
    command = [sys.executable, "-m", "lowwater", "run", "train.py"]
    child, frames = run_on(screen, command, programs.folder, {**programs.env, "TERM": "xterm"})
    live = [frame[-1] for frame in frames if frame[-1].startswith("lowwater · iteration")]

    assert child.exitstatus == 0
    assert len(live) >= 3
    assert "in use" in live[-1]
    assert "+1.9 MiB per iteration" in live[-1]
    # No line of the program was overwritten, and none of ours scrolled up among them.
    for frame in frames:
        assert not any("lowwater ·" in line for line in frame[:-1])
    assert any(f"epoch {n}" in frame for frame in frames for n in (39,))
    assert not any("lowwater ·" in line for line in frames[-1])


def test_without_a_terminal_there_is_no_live_line(programs):
    programs.write("train.py", "import time\nfor i in range(5):\n    time.sleep(0.3)\n")
    done = programs.lowwater("run", "train.py")

    assert "\x1b" not in done.stderr
    assert "lowwater ·" not in done.stderr


def test_bar_of_a_map_stays_below_what_the_trials_print(programs, screen):
    programs.write(
        "search.py",
        """\
        import lowwater

        def trial(number):
            print("trial", number)
            if number == 2:
                raise ValueError(number)
            return number

        print(lowwater.map(trial, range(4), on_error="collect"))
        """,
    )
    command = [sys.executable, "search.py"]
    child, frames = run_on(screen, command, programs.folder, {**programs.env, "TERM": "xterm"})
    shown = [line for line in frames[-1] if line]

    assert child.exitstatus == 0
    assert shown[:4] == [f"trial {number}" for number in range(4)]
    assert shown[4].startswith("trials ━")
    assert "4/4" in shown[4]
    assert "1 failed" in " ".join(shown[4:])
    assert shown[-1] == "[0, 1, ValueError(2), 3]"
