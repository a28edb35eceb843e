"""What a script does behind its last boundary is in the report: its memory, and how it ended."""

import signal

import pytest

MIB = 1 << 20
TAKES = """\
    import atexit, os, signal, sys, time
    kept = []
    for i in range(20):
        time.sleep(0.01)
    kept.append(bytearray(b"x") * {mib} * 1_048_576)
    {then}
"""


def row(run, name):
    return next(row for row in run.report["ledger"]["rows"] if row["name"] == name)


def test_memory_that_the_last_statement_takes_is_in_the_ledger(programs):
    programs.write("takes.py", TAKES.format(mib=300, then="pass"))

    run = programs.watch("takes.py")

    assert [one.name for one in run.timeline.moments] == ["start", "last statement", "exit"]
    for name in ("resident, in all", "resident, anonymous", "malloc, in use", "in use"):
        assert row(run, name)["first_bytes"] < 250 * MIB
        assert row(run, name)["last_bytes"] > 300 * MIB
        assert row(run, name)["highest_bytes"] > 300 * MIB


def test_a_peak_between_two_looks_is_the_highest(programs):
    programs.write("takes.py", TAKES.format(mib=300, then="kept.clear()"))

    run = programs.watch("takes.py")

    assert row(run, "resident, in all")["highest_bytes"] > 300 * MIB
    assert row(run, "resident, anonymous")["highest_bytes"] > 290 * MIB
    assert row(run, "resident, anonymous")["last_bytes"] < 250 * MIB
    assert run.report["ending"]["peak_rss_bytes"] > 300 * MIB


def test_what_its_children_took_is_not_the_programs_own_peak(programs):
    programs.write("child.py", TAKES.format(mib=300, then="pass"))
    then = "os.system(f'{sys.executable} child.py')"
    programs.write("calls.py", TAKES.format(mib=1, then=then))

    run = programs.watch("calls.py")

    assert run.report["ending"]["peak_rss_bytes"] < 250 * MIB


def test_a_killed_program_is_booked_up_to_the_last_look(programs):
    then = "time.sleep(1.5); os.kill(os.getpid(), signal.SIGKILL)"
    programs.write("killed.py", TAKES.format(mib=300, then=then))

    run = programs.watch("killed.py")

    assert run.report["ending"]["signal"] == signal.SIGKILL
    assert [one.name for one in run.timeline.moments] == ["start"]
    assert row(run, "resident, anonymous")["last_bytes"] > 300 * MIB
    assert row(run, "resident, in all")["highest_bytes"] > 300 * MIB


ENDS = [
    "raise ValueError('no such thing')",
    "sys.exit(3)",
    "sys.exit('usage')",
    "os._exit(4)",
    "atexit.register(print, 'bye')",
    "raise KeyboardInterrupt",
]


@pytest.mark.parametrize("then", ENDS)
def test_a_script_ends_as_it_does_without_us(programs, then):
    programs.write("ends.py", TAKES.format(mib=1, then=then))

    plain, watched = programs.plain("ends.py"), programs.watch("ends.py")

    assert (watched.returncode, watched.stdout) in (
        (plain.returncode, plain.stdout),
        (128 - plain.returncode, plain.stdout),  # by a signal, as shells have it
    )
    assert watched.stderr.startswith(plain.stderr)


@pytest.mark.parametrize(
    ("then", "error", "out_of_memory"),
    [
        ("raise ValueError('no such thing')", "ValueError: no such thing", False),
        ("kept * (1 << 60)", "MemoryError", True),
        ("sys.exit('usage')", None, False),
        ("pass", None, False),
    ],
)
def test_the_error_that_ended_the_script_is_reported(programs, then, error, out_of_memory):
    programs.write("ends.py", TAKES.format(mib=1, then=then))

    ending = programs.watch("ends.py").report["ending"]

    assert (ending["error"], ending["out_of_memory"]) == (error, out_of_memory)
