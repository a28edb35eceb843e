"""Programs are written to a folder of their own and run as a user would run them."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from dataclasses import dataclass
from pathlib import Path
from select import select

import pytest

from lowwater.model import Timeline
from lowwater.recording.reader import load


@dataclass(frozen=True)
class Run:
    """What a user sees of one run."""

    returncode: int
    stdout: str
    stderr: str
    report: dict | None
    timeline: Timeline | None

    @property
    def kind(self):
        return self.report["verdict"]["kind"]

    @property
    def growth(self):
        return self.report["verdict"]["growth_bytes_per_unit"]

    def unit(self, name):
        return next(unit for unit in self.report["units"] if unit["unit"] == name)


class Programs:
    """Writes programs and runs them, plainly or under watch."""

    def __init__(self, folder: Path, warm_python: "WarmPython | None" = None) -> None:
        self.folder = folder
        self._warm_python = warm_python
        self.env = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "PYTHONUNBUFFERED": "1"}

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))
        return path

    def plain(self, *arguments, **options):
        return self._run([sys.executable, *arguments], **options)

    def warm(self, script, *arguments, timeout=600):
        """A program that finds TensorFlow and Keras imported, but not used."""
        return self._warm_python.run(self.folder, script, arguments, timeout)

    def lowwater(self, *arguments, **options):
        return self._run([sys.executable, "-m", "lowwater", *arguments], **options)

    def watch(self, *arguments, env=None, **options):
        """`lowwater run` with a report and a recording."""
        report, recording = self.folder / "report.json", self.folder / "run.lw"
        done = self.lowwater(
            *("run", "--json", str(report), "--record", str(recording), *arguments),
            env={**self.env, **(env or {})},
            **options,
        )
        return Run(
            done.returncode,
            done.stdout,
            done.stderr,
            json.loads(report.read_text()) if report.exists() else None,
            load(recording) if recording.exists() else None,
        )

    def popen(self, *arguments, first=None, **options):
        return subprocess.Popen(
            _after(first, [sys.executable, "-m", "lowwater", *arguments]),
            cwd=self.folder,
            env=self.env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            **options,
        )

    def _run(self, command, *, first=None, input=None, env=None, timeout=600, **options):  # noqa: A002
        return subprocess.run(
            _after(first, command),
            cwd=options.pop("cwd", self.folder),
            env=env or self.env,
            input=input,
            stdin=None if input is not None else subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
            **options,
        )


def _after(first, command):
    """A command in a process that has first done a line of the shell.

    Not by `preexec_fn`: it forks in Python, which JAX warns of once a test has imported it.
    """
    return command if first is None else ["sh", "-c", f'{first}; exec "$@"', "sh", *command]


class WarmPython:
    """Runs programs in forks of one process that has imported TensorFlow; started when needed."""

    def __init__(self) -> None:
        self._process = None

    def run(self, folder, script, arguments, timeout):
        if self._process is None:
            self._process = self._start()
        out, err = folder / "stdout.txt", folder / "stderr.txt"
        order = {"script": script, "arguments": arguments, "folder": str(folder)}
        print(
            json.dumps({**order, "out": str(out), "err": str(err)}),
            file=self._process.stdin,
            flush=True,
        )
        if not select([self._process.stdout], [], [], timeout)[0]:
            self.stop()
            raise subprocess.TimeoutExpired([script, *arguments], timeout)
        code = int(self._process.stdout.readline())
        return subprocess.CompletedProcess(script, code, out.read_text(), err.read_text())

    def stop(self):
        if self._process is not None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.communicate()
            self._process = None

    def _start(self):
        # oneDNN brings a pool for host tensors; whether it does is settled by the import.
        env = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "TF_ENABLE_ONEDNN_OPTS": "0"}
        return subprocess.Popen(
            [sys.executable, "-P", str(Path(__file__).with_name("warm_python.py"))],
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
            start_new_session=True,
        )


@pytest.fixture(scope="session")
def warm_python():
    server = WarmPython()
    yield server
    server.stop()


@pytest.fixture
def programs(tmp_path, warm_python):
    return Programs(tmp_path, warm_python)


@pytest.fixture(scope="session")
def programs_in():
    """For fixtures that live longer than a test: makes one for a folder."""
    return Programs


def _remove(folder, seconds=30):
    """The kernel takes a moment to let go of the last process that has ended in a group."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            return folder.rmdir()
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


@pytest.fixture
def a_control_group():
    """Makes control groups with a limit (v1), and gives the line of the shell that joins one.

    Skips where that is not allowed.
    """
    made = []

    def make(limit_bytes):
        folder = Path(f"/sys/fs/cgroup/memory/lowwater-test-{os.getpid()}-{len(made)}")
        try:
            folder.mkdir()
            made.append(folder)
            (folder / "memory.limit_in_bytes").write_text(str(limit_bytes))
        except OSError as error:
            pytest.skip(f"no control group can be made here: {error}")
        return f"echo $$ > {folder}/cgroup.procs"

    yield make
    for folder in made:
        _remove(folder)
