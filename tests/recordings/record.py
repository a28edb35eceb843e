"""Records every specimen, quiet and under load, for tests/test_replay.py: `make record`.

A run under load shares the machine with five others: three programs for each core.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from lowwater.errors import LowwaterError
from lowwater.recording.reader import load

HERE = Path(__file__).resolve().parent
SPECIMENS = HERE.parent / "specimens"
KINDS = {"quiet": ("quiet",), "busy": ("busy-1", "busy-2")}
LOADED = 3
TIMEOUT_S = 900
SPIN = "while True: pass"


def main() -> None:
    """Record what was asked for, and say what failed."""
    options = _options()
    failed: list[str] = []
    names = options.only.split(",")
    paths = [p for p in sorted(SPECIMENS.glob("*.py")) if any(name in p.stem for name in names)]
    for kind in options.kinds.split(","):
        jobs = options.jobs * (1 if kind == "quiet" else LOADED)
        for run in KINDS[kind]:
            due = _due(paths, run, options)
            with _load(jobs - len(due) if kind == "busy" and due else 0):
                failed += _record_all(due, run, jobs, options.to)
    for failure in failed:
        print(f"failed: {failure}")
    sys.exit(1 if failed else 0)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--only", default="", help="names that contain A, or one of A,B,C")
    parser.add_argument("--kinds", default="quiet,busy", help="quiet, busy, or both (quiet,busy)")
    parser.add_argument("--jobs", type=int, default=2, help="at a time; under load three times it")
    parser.add_argument("--missing", action="store_true", help="keep the recordings there are")
    parser.add_argument("--to", type=Path, default=HERE, help="another folder for the recordings")
    options = parser.parse_args()
    if unknown := {*options.kinds.split(",")} - {*KINDS}:
        parser.error(f"unknown kind: {', '.join(unknown)}")
    return options


def _due(paths: Sequence[Path], run: str, options: argparse.Namespace) -> list[Path]:
    due = [
        path for path in paths if not (options.missing and _target(path, run, options.to).exists())
    ]
    print(f"{run}: {len(due)} specimens, {len(paths) - len(due)} recordings kept", flush=True)
    return due


def _target(path: Path, run: str, folder: Path) -> Path:
    return folder / path.stem / f"{run}.lw"


@contextmanager
def _load(count: int) -> Iterator[None]:
    """So many programs that only take time, where specimens alone make too little load."""
    spinning = [subprocess.Popen([sys.executable, "-c", SPIN]) for _ in range(count)]
    try:
        yield
    finally:
        for program in spinning:
            program.kill()
            program.wait()


def _record_all(paths: Sequence[Path], run: str, jobs: int, folder: Path) -> list[str]:
    failed = []
    with ThreadPoolExecutor(jobs) as pool:
        recorded = pool.map(partial(_record, run=run, folder=folder), paths)
        for path, problem in zip(paths, recorded, strict=True):
            print(f"{run}: {path.stem}: {problem or 'recorded'}", flush=True)
            failed += [f"{path.stem}/{run}: {problem}"] if problem else []
    return failed


def _record(path: Path, run: str, folder: Path) -> str | None:
    """Run one specimen in a folder of its own; answers what went wrong."""
    with tempfile.TemporaryDirectory() as scratch:
        shutil.copy(path, scratch)
        recording = Path(scratch, "run.lw")
        problem = _run(path.name, scratch, recording)
        if problem is None:
            target = _target(path, run, folder)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(recording, target)
    return problem


def _run(script: str, folder: str, recording: Path) -> str | None:
    command = [sys.executable, "-P", "-m", "lowwater", "run", "--record", str(recording), script]
    env = {"TF_CPP_MIN_LOG_LEVEL": "3", **os.environ}
    try:
        done = subprocess.run(
            command, cwd=folder, env=env, capture_output=True, timeout=TIMEOUT_S, check=False
        )
        samples = load(recording).samples
    except (subprocess.TimeoutExpired, LowwaterError) as error:
        return str(error)
    if done.returncode != 0:
        return f"exit code {done.returncode}: {done.stderr[-300:].decode(errors='replace')}"
    return None if samples else "no samples"


if __name__ == "__main__":
    main()
