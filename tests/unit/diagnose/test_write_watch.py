"""What a program is seen to write, from inside; each in a process, for a hook stays."""

import json
import subprocess
import sys
import textwrap

import pytest

BEGIN = """
import json, os, pathlib, shutil, signal, sqlite3, subprocess, sys, tempfile
from lowwater.diagnose.write_watch import WriteWatch

watch = WriteWatch(lambda facts: print(json.dumps([*map(os.fsdecode, facts["opened"])])))
watch.install()
"""


def seen(tmp_path, program):
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "old.txt").write_text("old")
    (folder / "old").mkdir()
    (tmp_path / "elsewhere").mkdir()
    done = subprocess.run(
        [sys.executable, "-P", "-c", BEGIN + textwrap.dedent(program)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return json.loads(done.stdout or "[]")


@pytest.mark.parametrize(
    ("program", "names"),
    [
        ("mode = 'w'; open('new.txt', mode).close()", ["new.txt"]),
        ("open(b'n\\xffw', 'ab').close()", ["n\udcffw"]),
        ("os.open('new', os.O_CREAT | os.O_WRONLY)", ["new"]),
        ("os.open(pathlib.Path('new'), os.O_CREAT | os.O_RDWR)", ["new"]),
        ("pathlib.Path('new').touch()", ["new"]),
        ("open('old.txt', 'r+').close()", ["old.txt"]),
        ("sqlite3.connect('new.db').execute('create table t(a)')", ["new.db"]),
        ("os.remove('old.txt')", ["old.txt"]),
        ("os.rename('old.txt', 'new.txt')", ["old.txt", "new.txt"]),
        ("os.truncate('old.txt', 0)", ["old.txt"]),
        ("os.chmod('old.txt', 0o600)", ["old.txt"]),
        ("os.symlink('old.txt', 'new.txt')", ["new.txt"]),
        ("os.link('old.txt', 'new.txt')", ["new.txt"]),
        ("shutil.rmtree('old')", ["old"]),
        ("os.chdir('old'); open('../old/new', 'w').close()", ["old/new"]),
        ("open(type('Name', (str,), {'__str__': None})('new'), 'w').close()", ["new"]),
    ],
)
def test_what_is_written_is_named(tmp_path, program, names):
    assert seen(tmp_path, program) == names


def test_path_outside_of_the_folder_is_named_whole(tmp_path):
    assert seen(tmp_path, "open('../elsewhere/new.txt', 'w').close()") == [
        str(tmp_path / "elsewhere" / "new.txt")
    ]


@pytest.mark.parametrize(
    "program",
    [
        "open('old.txt').read(); os.open('old.txt', os.O_RDONLY)",
        "os.makedirs('old', exist_ok=True)",
        "open('/dev/null', 'w').write('x')",
        "os.write(os.pipe()[1], b'x')",
        "sqlite3.connect(':memory:').execute('create table t(a)')",
        "tempfile.TemporaryFile().write(b'x'); tempfile.mkstemp()",
        "with tempfile.TemporaryDirectory() as d: open(d + '/x', 'w').close()",
        "with tempfile.NamedTemporaryFile('w') as f: f.write('x')",
        "sys.path.insert(0, '.'); sys.dont_write_bytecode = False; import json.tool",
        "os.close(os.open('lock', os.O_CREAT | os.O_EXCL)); os.remove('lock')",
        "if os.fork() == 0: open('of_the_child', 'w'); os._exit(0)\nos.wait()",
    ],
)
def test_what_leaves_nothing_behind_is_not_named(tmp_path, program):
    assert seen(tmp_path, program) == []


def test_no_event_raises_into_the_program_or_calls_its_objects(tmp_path):
    program = """
    class Trap:
        def __getattribute__(self, name): print("called", name); os._exit(3)
        def __eq__(self, other): os._exit(4)
        def __hash__(self): os._exit(5)
        def __fspath__(self): os._exit(6)
        __class__ = property(lambda self: os._exit(7))

    from lowwater.diagnose.write_watch import _EVENTS

    for event in _EVENTS:
        for count in range(5):
            sys.audit(event, *[Trap()] * count)
            sys.audit(event, *[None] * count)
            sys.audit(event, *[1 << 70] * count)
            sys.audit(event, *["\\udcff\\0"] * count)
    """
    assert all(name.startswith("\udcff") for name in seen(tmp_path, program))


def test_exception_of_a_signal_is_not_lost(tmp_path):
    program = """
    class Stop(Exception): pass

    def stop(*_): raise Stop

    signal.signal(signal.SIGALRM, stop)
    raised = 0
    for number in range(300):
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.0003)
            while True:
                with open("log.txt", "a"):
                    pass
        except Stop:
            raised += 1
    assert raised == 300
    """
    assert seen(tmp_path, program) == ["log.txt"]


def test_folder_that_is_gone_does_no_harm(tmp_path):
    program = """
    os.chdir("old")
    os.rmdir("../old")
    try:
        open("new", "w")
    except FileNotFoundError as error:
        assert error.filename == "new"
    """
    assert seen(tmp_path, program) == ["old"]


def test_after_the_end_the_hook_does_nothing(tmp_path):
    program = """
    open("first", "w").close()
    watch.tell()
    open("second", "w").close()
    watch._learn = lambda facts: os._exit(1) if "second" in str(facts) else None
    """
    assert seen(tmp_path, program) == ["first"]
