"""Machines with GPUs that are only host memory, and programs that run on them."""

import json
import subprocess
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path

import pytest

from hostgpu.build import build
from hostgpu.machine import Machine
from hostgpu.programs import ASKS


@pytest.fixture(scope="session")
def hostgpu_cache(request):
    """Builds last as long as the cache of pytest."""
    return Path(request.config.cache.mkdir("hostgpu"))


@pytest.fixture(scope="session")
def hostgpu_built(hostgpu_cache):
    return build(hostgpu_cache)


@pytest.fixture
def hostgpu(hostgpu_built, tmp_path):
    """Makes a machine whose devices have these sizes; one for each test."""

    def make(*device_bytes, context_bytes=0, built=hostgpu_built):
        return Machine(built, tmp_path / "book", device_bytes, context_bytes)

    return make


@dataclass(frozen=True)
class Programs:
    """Runs programs that answer with JSON, one line each."""

    folder: Path

    def run(self, text, environment):
        done = self._done(self._command(text), environment)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def run_script(self, text, environment, name="train.py"):
        """The same for a file, as users write them: its variables have lines."""
        (self.folder / name).write_text(textwrap.dedent(text))
        return self.run(f"import runpy; runpy.run_path({name!r}, run_name='__main__')", environment)

    def watch(self, text, environment, *options):
        """The report on a script under `lowwater run`, and how that ended."""
        (self.folder / "train.py").write_text(textwrap.dedent(text))
        command = ["run", *options, "--json", "report.json", "train.py"]
        done = self._done([sys.executable, "-m", "lowwater", *command], environment)
        report = self.folder / "report.json"
        assert report.exists(), done.stderr
        return json.loads(report.read_text()), done

    def start(self, text, environment):
        """A program that goes on when it reads a line, and ends with its input."""
        return subprocess.Popen(
            self._command(text),
            env=environment,
            cwd=self.folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def _done(self, command, environment):
        return subprocess.run(
            command,
            env=environment,
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=900,
            check=False,
        )

    def _command(self, text):
        return [sys.executable, "-P", "-c", textwrap.dedent(text)]


@pytest.fixture
def programs(tmp_path):
    return Programs(tmp_path)


@pytest.fixture
def driver(programs):
    """What `nvidia-ml-py` says of one device in a process of its own."""

    def ask(machine, device=0, **faults):
        return programs.run(f"DEVICE = {device}\n{ASKS}", machine.environment(**faults))

    return ask
