"""Watched or not, the program sees and shows the same."""

import pytest

SEES = """\
    import json, os, sys
    main = sys.modules["__main__"]
    print(json.dumps({
        "argv": sys.argv,
        "file": __file__,
        "name": __name__,
        "package": __package__,
        "spec": __spec__ and __spec__.name,
        "loader": type(__loader__).__name__,
        "cached": globals().get("__cached__"),
        "doc": __doc__,
        "cwd": os.getcwd(),
        "path": sys.path,
        "main is me": main.__dict__ is globals(),
        "names": sorted(globals()),
        "stdin": sys.stdin.read(),
        "flags": str(sys.flags),
        "meta_path": len([f for f in sys.meta_path if "lowwater" not in type(f).__module__]),
        "no numpy": "numpy" in sys.modules,
    }))
    print("to stderr", file=sys.stderr)
"""


def same(plain, watched):
    """stdout and exit code are equal; stderr begins with the program's own."""
    assert watched.stdout == plain.stdout
    assert watched.returncode == plain.returncode
    assert watched.stderr.startswith(plain.stderr)
    return True


@pytest.mark.parametrize("target", ["sees.py", "./sees.py", "sub/../sees.py", "linked.py"])
def test_a_script_sees_the_same_world(programs, target):
    programs.write("sees.py", SEES)
    (programs.folder / "sub").mkdir()
    (programs.folder / "linked.py").symlink_to("sees.py")
    arguments = [target, "--epochs", "3", "-q", "--json", "x y"]

    plain = programs.plain(*arguments, input="typed\n")

    assert '"typed\\n"' in plain.stdout
    assert same(plain, programs.watch(*arguments, input="typed\n"))


@pytest.mark.parametrize("module", ["pack.sees", "pack", "top"])
def test_a_module_sees_the_same_world(programs, module):
    programs.write("pack/__init__.py", "")
    programs.write("pack/sees.py", SEES)
    programs.write("pack/__main__.py", SEES)
    programs.write("top.py", SEES)
    arguments = ["-m", module, "--epochs", "3", "-m", "x"]

    plain = programs.plain(*arguments, input="")

    assert plain.returncode == 0
    assert same(plain, programs.watch(*arguments, input=""))


FAILS = """\
    import sys
    from mine import helper

    def train(n):
        for epoch in range(n):
            for batch in range(n):
                helper(epoch, batch)

    train(3)
"""
MINE = """\
    def helper(epoch, batch):
        for i in range(3):
            divide(i, epoch)

    def divide(i, epoch):
        return 1 / (epoch - 1)
"""


@pytest.mark.parametrize("target", [["fails.py"], ["-m", "fails"]])
def test_a_failing_program_has_the_same_traceback(programs, target):
    programs.write("fails.py", FAILS)
    programs.write("mine.py", MINE)

    plain = programs.plain(*target)

    assert "ZeroDivisionError" in plain.stderr
    assert same(plain, programs.watch(*target))


@pytest.mark.parametrize(
    "body",
    [
        "import sys; sys.exit(7)",
        "import sys; sys.exit('a message')",
        "raise SystemExit",
        "import os; os._exit(9)",
        "raise KeyError('x') from ValueError('y')",
        "def f(:",
        "import warnings; warnings.warn('careful'); x = 1 is 1",
        "raise ExceptionGroup('many', [ValueError(1), TypeError(2)])",
        "import sys; sys.excepthook = lambda *a: print('hooked', a[0].__name__); 1 / 0",
        "import atexit; atexit.register(print, 'bye'); 1 / 0",
        "import threading; threading.Thread(target=lambda: 1 / 0).start()",
        "x = '\\u00e9'; print(x)",
        "# -*- coding: latin-1 -*-\nprint('caf\\xe9')",
        "import traceback\ntry:\n    1 / 0\nexcept Exception:\n    traceback.print_exc()",
        "",
    ],
)
def test_every_way_to_end_is_passed_on(programs, body):
    programs.write("ends.py", "").write_bytes(body.encode("latin-1"))

    assert same(programs.plain("ends.py"), programs.watch("ends.py"))


def test_interpreter_flags_reach_the_program(programs):
    import subprocess
    import sys

    programs.write("flags.py", "import sys; print(sys.flags, sys.warnoptions, sys._xoptions)")
    flags = ["-O", "-W", "ignore::DeprecationWarning", "-X", "utf8"]
    watched = subprocess.run(
        [sys.executable, *flags, "-m", "lowwater", "run", "-q", "flags.py"],
        capture_output=True,
        text=True,
        cwd=programs.folder,
        check=True,
    )

    assert "optimize=1" in watched.stdout
    assert "ignore::DeprecationWarning" in watched.stdout
    assert "'utf8': True" in watched.stdout


def test_pickles_and_worker_processes_of_main_work(programs):
    programs.write(
        "workers.py",
        """\
        import multiprocessing, pickle, sys

        class Job:
            def __init__(self, n): self.n = n

        def work(job):
            total = 0
            for i in range(job.n):
                total += len(str(i))
            return total

        if __name__ == "__main__":
            assert pickle.loads(pickle.dumps(Job(3))).n == 3
            for method in ("fork", "spawn"):
                with multiprocessing.get_context(method).Pool(2) as pool:
                    print(method, pool.map(work, [Job(5), Job(20)]))
        """,
    )

    watched = programs.watch("workers.py")

    assert same(programs.plain("workers.py"), watched)
    assert [unit["unit"] for unit in watched.report["units"]] != []


def test_modules_that_shadow_ours_are_the_programs_own(programs):
    programs.write("units.py", "print('my units')\n")
    programs.write("model.py", "print('my model')\n")
    programs.write("msgspec.py", "print('my msgspec')\n")
    programs.write("train.py", "import units, model\nprint(units.__file__)\n")

    assert same(programs.plain("train.py"), programs.watch("train.py"))


def test_no_file_is_left_behind(programs):
    programs.write("mine.py", MINE)
    programs.write("train.py", "import mine\nfor i in range(3):\n    mine.helper(5, i)\n")
    before = set(programs.folder.rglob("*"))
    done = programs.lowwater("run", "train.py")

    assert done.returncode == 0
    assert set(programs.folder.rglob("*")) == before


def test_the_programs_stdout_is_its_own_and_the_report_goes_to_stderr(programs):
    programs.write("train.py", "print('loss 0.1')\n")
    done = programs.lowwater("run", "train.py")

    assert done.stdout == "loss 0.1\n"
    assert done.stderr != ""


def test_quiet_says_nothing(programs):
    programs.write("train.py", "print('loss 0.1')\n")
    done = programs.lowwater("run", "-q", "train.py")

    assert (done.stdout, done.stderr) == ("loss 0.1\n", "")


def test_loops_of_a_package_beside_the_scripts_folder_are_watched(programs):
    programs.write("mylib/__init__.py", "")
    programs.write(
        "mylib/training.py",
        """\
        def train(kept):
            for epoch in range(14):
                kept.append(bytearray(2_000_000))
        """,
    )
    programs.write("scripts/train.py", "from mylib.training import train\ntrain([])\n")
    run = programs.watch("scripts/train.py", env={"PYTHONPATH": str(programs.folder)})

    assert run.kind == "leak"
    assert run.report["verdict"]["where"] == "mylib/training.py:2"
