"""Whatever happens to the program, the verdict on what was seen comes, and nothing is torn."""

import os
import signal
import time

import pytest

from lowwater.recording.reader import load

LOOPS = """\
    import sys, time
    kept = []
    for i in range(40):
        kept.append(bytearray(2_000_000))
        time.sleep(0.01)
        if i == {at}:
            {what}
    print("done")
"""


def test_a_leak_of_plain_python_is_found_without_any_framework(programs):
    programs.write("train.py", LOOPS.format(at=99, what="pass"))
    run = programs.watch("train.py")

    assert run.returncode == 0
    assert run.kind == "leak"
    assert run.growth == pytest.approx(2_000_000, rel=0.1)
    assert run.report["verdict"]["unit"] == "iteration"
    assert run.report["verdict"]["where"] == "train.py:3"


def test_its_innocent_twin_is_not_accused(programs):
    programs.write("train.py", LOOPS.format(at=99, what="pass").replace("kept.append", "len"))
    run = programs.watch("train.py")

    assert run.report["verdict"]["is_leak"] is False
    assert run.timeline.collections == ()


@pytest.mark.parametrize(
    ("what", "returncode"),
    [
        ("raise RuntimeError('no luck')", 1),
        ("sys.exit(7)", 7),
        ("import os; os._exit(5)", 5),
        ("import os; os.kill(os.getpid(), 9)", 137),
        ("import os; os.abort()", 134),
        ("import os; os.execv(sys.executable, [sys.executable, '-c', 'print(1)'])", 0),
    ],
)
def test_a_program_that_ends_early_still_gets_its_verdict(programs, what, returncode):
    programs.write("train.py", LOOPS.format(at=20, what=what))
    run = programs.watch("train.py")

    assert run.returncode == returncode
    assert run.kind == "leak"
    assert run.timeline.ending is not None
    assert run.timeline.samples[-1].ordinal >= 19


def test_a_kill_is_told_by_its_name(programs):
    programs.write("train.py", LOOPS.format(at=20, what="import os; os.kill(os.getpid(), 9)"))
    run = programs.watch("train.py")

    assert run.report["ending"]["signal"] == 9
    assert "SIGKILL" in run.stderr


def test_fail_on_leak_overrides_the_exit_code(programs):
    programs.write("train.py", LOOPS.format(at=99, what="pass"))

    assert programs.watch("--fail-on", "leak", "train.py").returncode == 3


@pytest.mark.parametrize(("size", "exit_code"), [("64 KiB", 3), ("64 MiB", 0)])
def test_fail_on_leak_can_leave_small_leaks_alone(programs, size, exit_code):
    programs.write("train.py", LOOPS.format(at=99, what="pass"))
    run = programs.watch("--fail-on", "leak", "--min-growth", size, "train.py")

    assert run.kind == "leak"
    assert run.returncode == exit_code


def test_fail_on_leak_leaves_a_flat_program_alone(programs):
    programs.write(
        "train.py", LOOPS.format(at=30, what="sys.exit(4)").replace("kept.append", "len")
    )

    assert programs.watch("--fail-on", "leak", "train.py").returncode == 4


SLOW = """\
    import signal, sys, time
    kept = []
    try:
        for i in range(1000):
            kept.append(bytearray(2_000_000))
            if i == 20:
                print("ready", flush=True)
            time.sleep(0.02)
    except KeyboardInterrupt:
        print("interrupted once", flush=True)
        time.sleep(0.2)
        raise
"""


def interrupt(programs, how):
    programs.write("train.py", SLOW)
    process = programs.popen("run", "--record", "run.lw", "train.py", start_new_session=True)
    assert process.stdout.readline() == "ready\n"
    how(process)
    stdout, stderr = process.communicate(timeout=60)
    return process.returncode, stdout, stderr


@pytest.mark.parametrize(
    "how",
    [
        pytest.param(lambda p: p.send_signal(signal.SIGINT), id="to us alone"),
        pytest.param(lambda p: os.killpg(p.pid, signal.SIGINT), id="to the group, as a terminal"),
    ],
)
def test_an_interrupt_reaches_the_program_once_and_the_verdict_comes(programs, how):
    returncode, stdout, stderr = interrupt(programs, how)

    assert returncode == 130
    assert stdout == "interrupted once\n"
    assert stderr.count("KeyboardInterrupt") == 1
    assert "LEAK" in stderr


def test_a_termination_is_passed_on(programs):
    returncode, _, stderr = interrupt(programs, lambda p: p.terminate())

    assert returncode == 143
    assert "SIGTERM" in stderr
    assert "LEAK" in stderr


def test_a_program_that_hangs_in_native_code_can_be_quit_as_ever(programs):
    programs.write(
        "train.py",
        """\
        import itertools, time
        kept = []
        for i in range(30):
            kept.append(bytearray(2_000_000))
            time.sleep(0.01)
        print("ready", flush=True)
        sum(itertools.repeat(0))  # an endless loop in C: no signal handler can run
        """,
    )
    process = programs.popen("run", "train.py", start_new_session=True)
    try:
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.5)
        for _ in range(2):
            process.send_signal(signal.SIGINT)
            time.sleep(0.3)
            assert process.poll() is None
        process.send_signal(signal.SIGQUIT)
        _, stderr = process.communicate(timeout=60)
    finally:
        os.killpg(process.pid, signal.SIGKILL) if process.poll() is None else None

    assert process.returncode == 131
    assert "LEAK" in stderr


@pytest.mark.parametrize("ends", ["os._exit(0)", "sys.exit(0)", "raise ValueError"])
def test_forked_children_do_not_write_into_the_recording(programs, ends):
    text = """\
        import os, sys, time
        for i in range(12):
            time.sleep(0.01)
            if i % 3 == 0 and os.fork() == 0:
                for j in range(50):
                    len(bytearray(1000))
                ENDS
        while True:
            try:
                os.wait()
            except ChildProcessError:
                break
        """
    programs.write("train.py", text.replace("ENDS", ends))
    run = programs.watch("train.py")

    assert run.returncode == 0
    [loop] = [unit for unit in run.timeline.units if unit.where == "train.py:2"]
    ordinals = [sample.ordinal for sample in run.timeline.of(loop)]
    assert ordinals == sorted(set(ordinals))
    assert ordinals[-1] == 12
    assert "train.py:5" not in {unit.where for unit in run.timeline.units}
    assert run.timeline.overhead is not None


def test_a_full_disk_costs_the_recording_and_not_the_program(programs):
    programs.write("train.py", LOOPS.format(at=99, what="pass"))
    done = programs.lowwater("run", "--record", "/dev/full", "--json", "r.json", "train.py")

    assert done.returncode == 0
    assert done.stdout == "done\n"
    assert "/dev/full is not a regular file" in done.stderr


def test_a_disk_that_fills_up_leaves_a_readable_recording_and_a_note(programs):
    programs.write("train.py", LOOPS.format(at=99, what="pass"))
    # Every file ends at 3 blocks of 512 bytes, as on a disk that fills up.
    done = programs.lowwater("run", "--record", "run.lw", "train.py", first="ulimit -f 3")

    assert done.returncode == 0
    assert done.stdout == "done\n"
    assert "could not be completed: File too large" in done.stderr
    assert 3 < len(load(programs.folder / "run.lw").samples) < 40


def test_a_report_that_cannot_be_written_is_one_line(programs):
    programs.write("train.py", "print('done')\n")
    done = programs.lowwater("run", "--json", "/dev/full", "train.py")

    assert done.stdout == "done\n"
    assert done.returncode == 0
    assert "error: cannot write /dev/full" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("option", ["--json", "--record"])
def test_a_folder_that_is_not_there_is_noticed_before_the_program_starts(programs, option):
    programs.write("train.py", "print('done')\n")
    done = programs.lowwater("run", option, "nowhere/out", "train.py")

    assert (done.returncode, done.stdout) == (2, "")
    assert "does not exist (received: nowhere/out). Try: mkdir -p nowhere" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["nowhere.py"], "no such script (received: nowhere.py)"),
        (["train"], "Try: lowwater run -m train"),
        (["."], "the script is a folder without __main__.py (received: .)"),
        (["-m", "no_such_package.train"], "no such module"),
        (["-m", "json.no_such_part"], "no such module"),
        ([], "Missing argument 'SCRIPT'"),
        (["--fail-on", "rain", "train.py"], "'rain' is not 'leak'"),
        (["--fail-on", "leak", "--min-growth", "much", "train.py"], "--min-growth is not a size"),
        (["--min-growth", "1 MiB", "train.py"], "--min-growth requires --fail-on leak"),
    ],
)
def test_bad_input_is_one_clear_line_and_exit_2(programs, arguments, sentence):
    done = programs.lowwater("run", *arguments)

    assert done.returncode == 2
    assert sentence in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr


def test_a_script_without_read_permission_is_refused(programs, monkeypatch):
    # Root may read everything, and tests often run as root: the question is asked of a fake.
    from lowwater.cli._checks import check_script
    from lowwater.errors import UsageError

    script = programs.write("secret.py", "print(1)\n")
    monkeypatch.setattr(os, "access", lambda path, mode: False)

    with pytest.raises(UsageError, match=r"permission denied.*chmod u"):
        check_script(str(script))


def test_a_script_with_a_syntax_error_shows_pythons_own_words(programs):
    programs.write("train.py", "def broken(:\n")
    run = programs.watch("train.py")

    assert run.returncode == 1
    assert "SyntaxError: invalid syntax" in run.stderr
    assert run.kind == "inconclusive"


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "is not a Lowwater recording"),
        (b"LOWWATE", "is not a Lowwater recording"),
        (b"PK\x03\x04 something else", "is not a Lowwater recording"),
        (b"LOWWATER\x63", "newer Lowwater"),
        (b"LOWWATER\x01" + b"\x04\0\0\0" + b"\0\0\0\0" + b"abcd", "is damaged"),
    ],
)
def test_a_recording_that_cannot_be_read_is_exit_5_and_a_sentence(programs, content, sentence):
    (programs.folder / "run.lw").write_bytes(content)
    done = programs.lowwater("report", "run.lw")

    assert done.returncode == 5
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr


def test_a_recording_is_rendered_later_as_it_was_then(programs):
    programs.write("train.py", LOOPS.format(at=99, what="pass"))
    run = programs.watch("train.py")
    later = programs.lowwater("report", "--json", "later.json", "run.lw")

    assert later.returncode == 0
    assert later.stdout.strip() in run.stderr
    import json

    told = json.loads((programs.folder / "later.json").read_text())
    # The source is read only beside the program: later it may be gone, or another.
    assert [finding.pop("in_source") for finding in told["findings"]] == [None]
    assert [finding.pop("in_source") for finding in run.report["findings"]] == ["not seen"]
    assert told == run.report


def test_the_environment_of_a_recording_holds_no_secrets(programs):
    programs.write("train.py", "print('done')\n")
    env = {"AWS_SECRET_ACCESS_KEY": "hunter2secret", "MALLOC_ARENA_MAX": "2"}
    run = programs.watch("train.py", "--token", "swordfish", env=env)
    recording = (programs.folder / "run.lw").read_bytes()

    assert b"hunter2secret" not in recording
    assert b"swordfish" not in recording
    assert run.report["environment"]["MALLOC_ARENA_MAX"] == "2"


def test_explicit_boundaries_get_a_verdict_of_their_own(programs):
    programs.write(
        "train.py",
        """\
        import lowwater, time
        kept = []
        def episode():
            kept.append(bytearray(2_000_000))
            lowwater.boundary("episode")
        deque = __import__("collections").deque
        deque((episode() for _ in range(14)), maxlen=0)
        """,
    )
    run = programs.watch("train.py")

    assert run.kind == "leak"
    assert run.report["verdict"]["unit"] == "episode"


def test_explicit_boundaries_do_nothing_without_us(programs):
    programs.write("train.py", "import lowwater\nlowwater.boundary('episode')\nprint('fine')\n")

    assert programs.plain("train.py").stdout == "fine\n"


def test_a_program_without_loops_is_judged_by_time(programs):
    programs.write(
        "train.py",
        """\
        import time
        kept, end = [], time.monotonic() + 4
        def step():
            kept.append([{} for _ in range(2000)])
            time.sleep(0.01)
            return time.monotonic() < end
        list(iter(step, False))
        """,
    )
    run = programs.watch("train.py")

    assert run.returncode == 0
    assert [unit["unit"] for unit in run.report["units"]] == ["time"]
    assert run.report["verdict"]["is_leak"] is not False


def test_threads_that_train_after_the_script_has_ended_are_still_watched(programs):
    programs.write(
        "train.py",
        """\
        import threading, time
        kept = []
        def train():
            for i in range(15):
                kept.append(bytearray(2_000_000))
                time.sleep(0.02)
            print(len(kept))
        threading.Thread(target=train).start()
        """,
    )
    run = programs.watch("train.py")

    assert run.stdout == "15\n"
    assert run.kind == "leak"
    assert run.report["verdict"]["units_seen"] == 15


def test_threads_that_train_are_watched_without_harm(programs):
    programs.write(
        "train.py",
        """\
        import threading, time
        kept = []
        def train():
            for i in range(15):
                kept.append(bytearray(2_000_000))
                time.sleep(0.01)
        threads = [threading.Thread(target=train) for _ in range(2)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        print(len(kept))
        """,
    )
    run = programs.watch("train.py")

    assert run.stdout == "30\n"
    assert run.kind == "leak"
