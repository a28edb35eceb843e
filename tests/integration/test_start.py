"""Whatever stands in the way of watching a program, the program runs."""

import os
import subprocess
import sys
import zipfile

import pytest

from lowwater.recording.reader import load

OK = """\
    import sys
    total = 0
    for i in range(50):
        total += len(str(i))
    print("result", total)
    sys.exit(7)
"""
LEAKS = """\
    import os, time
    kept = []
    for i in range(40):
        kept.append(bytearray(1_000_000))
        time.sleep(0.005)
        {what}
"""


def ok(programs, *arguments, **options):
    programs.write("ok.py", OK)
    done = programs.lowwater("run", *arguments, "ok.py", **options)
    assert done.stdout == "result 90\n"
    assert done.returncode == 7
    assert "Traceback" not in done.stderr
    return done.stderr


def in_a_shell(programs, arguments):
    command = ["/bin/sh", "-c", f"{sys.executable} -m lowwater {arguments}"]
    return subprocess.run(
        command, cwd=programs.folder, env=programs.env, check=False, timeout=120
    ).returncode


def test_the_programs_own_descriptors_are_its_own(programs):
    programs.write("train.py", LEAKS.format(what="os.write(3, b'step\\n')"))

    assert in_a_shell(programs, "run --record run.lw train.py 3>log") == 0
    assert (programs.folder / "log").read_text() == 40 * "step\n"
    assert len(load(programs.folder / "run.lw").samples) >= 30


def test_ours_lie_out_of_the_way_and_are_inherited_by_nobody(programs):
    programs.write(
        "fds.py",
        """\
        import os, subprocess, sys
        print(max(fd for fd in range(900) if os.path.exists(f"/proc/self/fd/{fd}")))
        code = "import os; print(os.listdir('/proc/self/fd'))"
        print(subprocess.run([sys.executable, "-c", code], close_fds=False,
                             capture_output=True, text=True).stdout.count("9"))
        """,
    )

    assert programs.watch("fds.py").stdout == "2\n0\n"


@pytest.mark.parametrize("target", ["/proc/run.lw", "folder", "/dev/null"])
def test_a_recording_that_cannot_be_kept_is_a_sentence(programs, target):
    (programs.folder / "folder").mkdir()
    stderr = " ".join(ok(programs, "--record", target).split())  # the screen breaks long lines

    assert "recording cannot be kept in" in stderr or "is not a regular file" in stderr
    assert "50 iterations" in stderr


def test_no_temporary_folder_is_needed(programs):
    nowhere = "import tempfile; tempfile._candidate_tempdir_list = lambda: ['/proc/nowhere']\n"
    programs.write("site/sitecustomize.py", nowhere)
    env = {**programs.env, "PYTHONPATH": str(programs.folder / "site")}

    assert "50 iterations" in ok(programs, env=env)


@pytest.mark.parametrize("name", [b"na\xffme.py", b"fol\xffder/train.py"])
def test_names_of_any_bytes_are_watched(programs, name):
    path = os.fsdecode(os.path.join(os.fsencode(programs.folder), name))
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write("import sys\nfor i in range(50):\n    len(str(i))\nsys.exit(7)\n")
    done = programs.lowwater("run", os.fsdecode(name))

    assert done.returncode == 7
    assert "Traceback" not in done.stderr
    assert "50 iterations" in done.stderr


def test_variables_of_any_bytes_are_recorded(programs):
    env = {**os.environb, b"XLA_FLAGS": b"\xff", b"TF_GPU_ALLOCATOR": b"a\xffb"}

    assert "50 iterations" in ok(programs, env=env)


def test_arguments_may_be_as_long_as_the_system_allows(programs):
    programs.write("argv.py", "import sys; print(len(sys.argv), sum(map(len, sys.argv)))\n")
    arguments = ["argv.py", "x" * 120_000, *(str(number) for number in range(40_000))]

    plain = programs.plain(*arguments)

    assert plain.returncode == 0
    assert programs.lowwater("run", *arguments).stdout == plain.stdout


@pytest.mark.parametrize(
    "redirection", [">&-", "2>&-", "<&-", ">&- 2>&- <&-", "2>/dev/full", ">/dev/full 2>&1"]
)
@pytest.mark.parametrize("option", ["", "--json /dev/full", "--json r.json"])
def test_streams_that_are_closed_or_full_cost_no_exit_code(programs, redirection, option):
    programs.write("ok.py", OK.replace('print("result", total)', ""))

    assert in_a_shell(programs, f"run {option} ok.py {redirection}") == 7
    assert (programs.folder / "r.json").exists() == (option == "--json r.json")


SHADOWED = ["array", "contextvars", "_contextvars", "mmap", "json", "copy", "platform", "uuid"]


def test_modules_of_the_programs_folder_are_never_ours(programs):
    for name in SHADOWED:
        programs.write(f"{name}.py", f"print('imported {name}')\n")
    programs.write("train.py", LEAKS.format(what="pass"))

    run = programs.watch("train.py")

    assert run.stdout == ""
    assert run.report["findings"][0]["where"] == "train.py:4"


@pytest.mark.parametrize("name", ["copy", "json", "platform", "uuid", "array", "mmap"])
def test_the_program_finds_its_own_modules_though_we_have_loaded_pythons(programs, name):
    programs.write(f"{name}.py", "mine = True\n")
    programs.write("train.py", f"import {name}\nprint({name}.mine)\n")

    assert programs.plain("train.py").stdout == "True\n"
    assert programs.watch("train.py").stdout == "True\n"


SEES = """\
    import sys
    print(sys.argv, __name__, sys.path[0], __file__, type(__loader__).__name__, __package__)
    for i in range(50):
        len(str(i))
    sys.exit(6)
"""


def archive(programs):
    with zipfile.ZipFile(programs.folder / "app.pyz", "w") as file:
        file.write(programs.write("__main__.py", SEES), "__main__.py")
        file.writestr("part.py", "")


def folder(programs):
    programs.write("app/__main__.py", SEES)


def compiled(programs):
    import py_compile

    programs.write("app.py", SEES)
    py_compile.compile(str(programs.folder / "app.py"), cfile=str(programs.folder / "app.pyc"))


@pytest.mark.parametrize(
    ("make", "target"),
    [(archive, "app.pyz"), (folder, "app"), (folder, "./app"), (compiled, "app.pyc")],
)
def test_archives_folders_and_compiled_files_run_as_under_python(programs, make, target):
    make(programs)

    plain = programs.plain(target, "--x", "y")
    watched = programs.watch(target, "--x", "y")

    assert plain.returncode == 6
    assert (watched.stdout, watched.returncode) == (plain.stdout, 6)


@pytest.mark.parametrize("target", ["-", "/dev/stdin"])
def test_a_program_from_standard_input_runs_as_under_python(programs, target):
    text = "import sys\nprint(sys.argv, sys.path[0], __name__, __file__)\n"
    text += "for i in range(50):\n    len(str(i))\nsys.exit(6)\n"

    plain = programs.plain(target, "--x", input=text)
    watched = programs.watch(target, "--x", input=text)

    assert plain.returncode == 6
    assert (watched.stdout, watched.returncode) == (plain.stdout, 6)


def refused(programs, *arguments):
    done = programs.lowwater("run", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    [line] = done.stderr.splitlines()
    return line


def test_a_recording_over_the_script_is_refused(programs):
    programs.write("ok.py", OK)

    assert "would overwrite the script" in refused(programs, "--record", "ok.py", "./ok.py")


def test_a_recording_over_a_file_of_the_users_is_refused(programs):
    programs.write("ok.py", OK)
    programs.write("log.csv", "loss\n0.1\n")

    assert "is not a Lowwater recording" in refused(programs, "--record", "log.csv", "ok.py")


def test_a_recording_into_a_pipe_is_refused(programs):
    programs.write("ok.py", OK)
    os.mkfifo(programs.folder / "pipe")

    assert "needs a regular file" in refused(programs, "--record", "pipe", "ok.py")


def test_two_runs_cannot_record_to_one_file(programs):
    programs.write("waits.py", "print('ready', flush=True)\ninput()\n")
    programs.write("ok.py", OK)
    first = programs.popen("run", "--record", "run.lw", "waits.py", stdin=subprocess.PIPE)
    try:
        assert first.stdout.readline() == "ready\n"

        assert "another run is recording" in refused(programs, "--record", "run.lw", "ok.py")
    finally:
        first.communicate("\n", timeout=60)

    assert first.returncode == 0
    assert load(programs.folder / "run.lw").ending.exit_code == 0


def test_an_earlier_recording_is_never_taken_for_this_runs(programs):
    programs.write("leaks.py", LEAKS.format(what="pass"))
    assert programs.watch("leaks.py").kind == "leak"
    # Killed before it could record anything.
    programs.write("dies.py", "import os; os.kill(os.getpid(), 9)\n")
    run = programs.watch("--fail-on", "leak", "dies.py")

    assert run.returncode == 137
    assert run.kind == "inconclusive"
    assert run.timeline.environment["script"] == "dies.py"


def test_a_file_that_the_program_puts_in_the_place_of_the_recording_stays(programs):
    programs.write(
        "replaces.py",
        """\
        import os, sys
        for i in range(20): str(i)
        open("run.lw", "w").write("PRECIOUS")
        os.closerange(3, 4096)
        for i in range(200): str(i)
        sys.exit(4)
        """,
    )
    done = programs.lowwater("run", "--record", "run.lw", "replaces.py")

    assert done.returncode == 4
    assert (programs.folder / "run.lw").read_text() == "PRECIOUS"
    assert "the recording is in" in " ".join(done.stderr.split())
    assert load(programs.folder / "run.lw.part").ending.exit_code == 4


def test_a_killed_supervisor_leaves_what_was_recorded_so_far(programs):
    programs.write(
        "waits.py", LEAKS.format(what="pass") + "    print('ready', flush=True)\n    input()\n"
    )
    process = programs.popen("run", "--record", "run.lw", "waits.py", stdin=subprocess.PIPE)
    assert process.stdout.readline() == "ready\n"
    process.kill()
    process.communicate(timeout=60)

    assert not (programs.folder / "run.lw").exists()
    assert len(load(programs.folder / "run.lw.part").samples) >= 30
