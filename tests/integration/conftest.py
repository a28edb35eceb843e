"""Programs are written to a folder of their own and run as a user would run them."""

import json
import os
import subprocess
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path

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

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.env = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "PYTHONUNBUFFERED": "1"}

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))
        return path

    def plain(self, *arguments, **options):
        return self._run([sys.executable, *arguments], **options)

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

    def popen(self, *arguments, **options):
        return subprocess.Popen(
            [sys.executable, "-m", "lowwater", *arguments],
            cwd=self.folder,
            env=self.env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            **options,
        )

    def _run(self, command, *, input=None, env=None, timeout=240, **options):  # noqa: A002
        return subprocess.run(
            command,
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


@pytest.fixture
def programs(tmp_path):
    return Programs(tmp_path)


@pytest.fixture(scope="session")
def programs_in():
    """For fixtures that live longer than a test: makes one for a folder."""
    return Programs
