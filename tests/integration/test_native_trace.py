"""A library that keeps what it allocates is named by line and function; nobody else is bothered."""

import re
import shutil
import subprocess

import pytest

pytest.importorskip("memray")

LIBRARY = """
#include <stdlib.h>
#include <string.h>

/* volatile: a compiler leaves out a malloc whose result nobody looks at */
void *volatile kept[100000];
int count;

void leak_some(size_t bytes) {
    void *some = malloc(bytes);
    memset(some, 1, bytes);
    kept[count++] = some;
}

void use_some(size_t bytes) {
    void *some = malloc(bytes);
    memset(some, 1, bytes);
    kept[0] = some;
    free(some);
}
"""

PROGRAM = """\
import ctypes
import sys
import time

library = ctypes.CDLL("./libleak.so")
library.leak_some.argtypes = library.use_some.argtypes = [ctypes.c_size_t]


def step(number):
    library.leak_some(1_000_000)
    return number * number


for number in range(40):
    print(step(number), sys.getprofile())
    time.sleep(0.01)
"""
LINE = 10


@pytest.fixture
def library(programs):
    """A shared library made on the spot."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("needs a C compiler")
    source = programs.write("leak.c", LIBRARY)
    built = programs.folder / "libleak.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", built, source], check=True)


def notes_on_memray(run):
    return [note.text for note in run.timeline.notes if "memray" in note.text]


@pytest.mark.usefixtures("library")
class TestALibrary:
    def test_that_keeps_memory_is_named_by_line_and_function(self, programs):
        programs.write("train.py", PROGRAM)
        run = programs.watch("train.py")

        assert run.kind == "leak"
        [finding] = run.report["findings"]
        assert (finding["code"], finding["where"]) == ("LW404", f"train.py:{LINE}")
        assert re.search(r"memray watched \d+ rounds and saw most of it", finding["message"])
        assert f"allocated at train.py:{LINE}, in `leak_some`." in finding["message"]
        assert notes_on_memray(run) == ["memray watched 3 rounds"]

    def test_is_still_named_when_the_recording_is_read_later(self, programs):
        programs.write("train.py", PROGRAM)
        programs.watch("train.py")

        assert not (programs.folder / "run.lw.part.memray").exists()
        later = programs.lowwater("report", "run.lw")
        assert "`leak_some`" in later.stdout + later.stderr

    def test_does_not_change_what_the_program_says(self, programs):
        programs.write("train.py", PROGRAM)

        assert programs.watch("train.py").stdout == programs.plain("train.py").stdout

    def test_that_frees_is_not_accused_and_not_watched(self, programs):
        programs.write("train.py", PROGRAM.replace("library.leak_some(", "library.use_some("))
        run = programs.watch("train.py")

        assert run.report["verdict"]["is_leak"] is False
        assert notes_on_memray(run) == []
        assert run.timeline.native_trace is None

    def test_beside_a_growing_list_leaves_the_list_to_its_own_cause(self, programs):
        program = PROGRAM.replace(
            "    return number", "    kept.append(bytes(400_000))\n    return number"
        )
        programs.write("train.py", program.replace("\n\ndef step", "kept = []\n\n\ndef step", 1))
        run = programs.watch("train.py")

        found = {finding["code"]: finding for finding in run.report["findings"]}
        assert found["LW404"]["where"] == f"train.py:{LINE + 1}"
        assert found["LW102"]["where"] == f"train.py:{LINE + 2}"

    def test_leaves_the_programs_own_profiler_alone(self, programs):
        # It counts: one that kept what it saw would hold memory of its own.
        profiled = "calls = itertools.count()\nsys.setprofile(lambda *_: next(calls))\n\n\ndef step"
        program = PROGRAM.replace("def step", profiled, 1).replace(
            "import sys", "import itertools, sys"
        )
        last = "sys.setprofile(None)\nprint(next(calls) > 100)\n"
        programs.write("train.py", program.replace(", sys.getprofile()", "") + last)
        run = programs.watch("train.py")

        assert notes_on_memray(run) == [
            "memray was not started: the program uses its own profile function"
        ]
        assert run.stdout.endswith("True\n")
        assert run.report["findings"][0]["code"] == "LW404"

    def test_is_not_watched_in_a_forked_child(self, programs):
        forking = PROGRAM.replace(
            "    time.sleep(0.01)\n",
            "    child = os.fork()\n"
            "    if not child:\n"
            "        step(number)\n"
            "        os._exit(threading.getprofile() is not None)\n"
            "    failures += os.waitpid(child, 0)[1]\n",
        )
        forking = forking.replace("import sys\n", "import os\nimport sys\nimport threading\n")
        programs.write(
            "train.py", forking.replace("for n", "failures = 0\nfor n") + "print(failures)"
        )
        run = programs.watch("train.py")

        assert run.returncode == 0
        assert run.stdout.endswith("\n0\n")
        assert run.report["findings"][0]["where"] == f"train.py:{LINE + 2}"

    def test_that_kills_the_program_leaves_no_trace_behind(self, programs):
        # The trace is running from about the twelfth round on.
        killed = PROGRAM.replace("range(40)", "range(10_000)").replace(
            "    time.sleep(0.01)\n",
            "    if os.path.exists('run.lw.part.memray'):\n        os.kill(os.getpid(), 9)\n",
        )
        programs.write("train.py", killed.replace("import sys\n", "import os\nimport sys\n"))
        run = programs.watch("train.py")

        assert run.report["ending"]["signal"] == 9
        assert run.timeline.native_trace is None
        assert not (programs.folder / "run.lw.part.memray").exists()
