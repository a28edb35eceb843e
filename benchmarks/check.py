"""How right `lowwater check` is on the specimens, and how fast on the installed Keras.

$ PYTHONPATH=tests python benchmarks/check.py
"""

import ast
import gc
import importlib.util
import os
import resource
import subprocess
import sys
import tempfile
import time
from multiprocessing import get_context
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from lowwater.check.run import run
from lowwater.check.walk import files
from replay.source_rates import rates

_AT_A_TIME = 20


def main() -> None:
    """Print both tables."""
    rows = [*rates()]
    print("rule    specimens   found   findings   right")
    for row in rows:
        numbers = f"{row.expected:>9}  {row.seen:>6}  {row.findings:>9}  {row.right:>6}"
        print(f"{row.code}  {numbers}{'  preview' if row.is_preview else ''}")
    expected, seen = sum(row.expected for row in rows), sum(row.seen for row in rows)
    findings, right = sum(row.findings for row in rows), sum(row.right for row in rows)
    print(f"recall {seen} of {expected}, precision {right} of {findings}\n")
    [keras] = importlib.util.find_spec("keras").submodule_search_locations
    for name, seconds in speeds(str(keras)).items():
        print(f"{name:<44}{seconds:>8.2f} s")


def speeds(folder: str) -> dict[str, float]:
    """Processor time of all processes, which other programs on the machine change least."""
    with tempfile.TemporaryDirectory() as cache:
        return {
            "ast.parse of all files": _measured(lambda: parse_all(folder)),
            "the same without garbage collection": _measured(
                lambda: parse_all(folder, gc_on=False)
            ),
            "lowwater check, first run": _measured(lambda: run([folder], cache_folder=cache)),
            "lowwater check, second run": _measured(lambda: run([folder], cache_folder=cache)),
            "lowwater check of one file, from its start": _started(cache),
        }


def _measured(what) -> float:  # noqa: ANN001 - a call
    before = _processor_s()
    what()
    return _processor_s() - before


def _processor_s() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def parse_all(folder: str, *, gc_on: bool = True) -> None:
    """What the first run is compared with: the same files, on the same cores."""
    paths = [*files([folder])]
    chunks = [paths[at : at + _AT_A_TIME] for at in range(0, len(paths), _AT_A_TIME)]
    with get_context("fork").Pool(len(os.sched_getaffinity(0))) as pool:
        pool.starmap(_parse, [(chunk, gc_on) for chunk in chunks])


def _parse(paths: list[str], gc_on: bool) -> None:  # noqa: FBT001 - sent to a process
    (gc.enable if gc_on else gc.disable)()
    for path in paths:
        ast.parse(Path(path).read_bytes())


def _started(folder: str) -> float:
    script = Path(folder) / "train.py"
    script.write_text("import keras\n", encoding="utf-8")
    command = [sys.executable, "-m", "lowwater", "check", "--no-cache", str(script)]
    started = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
