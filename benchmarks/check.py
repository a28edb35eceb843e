"""How often `lowwater check` is right over all specimens, rule by rule, and how fast it is.

Two tables. The first holds what is found in every specimen against its first line: *to find* are
the leaking programs that ask for the rule, and of what is told, that is *right* which the first
line expects, at a line that it names, or which accuses nothing (a cache that fills, a buffer).

The second is the time of one run over the installed `keras`, with as many processes as there are
cores, beside `ast.parse` of the same files on the same cores: both start an interpreter and read
every file. They take turns, so that a busy minute hits both, and the middle of the ratios counts;
processor time is told beside it, for that disturbs it less.

Nothing is asserted here; the tests do that. This prints what is so, on this machine, today.
"""

import argparse
import ast
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path

# The grammar of the first lines stands with the tests that hold us to them.
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from lowwater.check.modules import ProjectModules
from lowwater.check.run import read
from lowwater.check.walk import files
from lowwater.check.words import WordSearch
from replay.source_rates import rates

MIB = 1024 * 1024


def print_specimens() -> None:
    """The table of the rules, and its totals."""
    rows = [*rates()]
    print("| rule | to find | found | told | right | missed |\n|---|---|---|---|---|---|")
    for row in rows:
        preview = " (preview)" if row.is_preview else ""
        print(
            f"| {row.code}{preview} | {row.expected} | {_share(row.seen, row.expected)} "
            f"| {row.findings} | {_share(row.right, row.findings)} | {', '.join(row.missed)} |"
        )
    expected, seen = sum(row.expected for row in rows), sum(row.seen for row in rows)
    findings, right = sum(row.findings for row in rows), sum(row.right for row in rows)
    print(
        f"\nrecall {_share(seen, expected)} of {expected}, "
        f"precision {_share(right, findings)} of {findings}"
    )


def _share(part: int, whole: int) -> str:
    return f"{part} ({part / whole:.0%})" if whole else "–"


def parse_all(paths: Sequence[str]) -> int:
    """`ast.parse` of some files; what does not parse is left out."""
    parsed = 0
    for path in paths:
        try:
            ast.parse(Path(path).read_bytes())
        except (SyntaxError, ValueError):
            continue
        parsed += 1
    return parsed


def parse_on_all_cores(folder: str) -> None:
    """The yardstick: the same files on the same cores, and nothing but the parser."""
    paths = [path for path in files([folder]) if path.endswith(".py")]
    chunks = [paths[start : start + 20] for start in range(0, len(paths), 20)]
    cores = len(os.sched_getaffinity(0))
    with ProcessPoolExecutor(cores, mp_context=get_context("fork")) as executor:
        print(sum(executor.map(parse_all, chunks)))


@dataclass(frozen=True)
class Took:
    """What one run has taken, in seconds."""

    wall_s: float
    cpu_s: float


def timed(command: Sequence[str], folder: str) -> Took:
    """Run a command and wait; the processor time contains that of its processes."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    wall_s, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Took(wall_s, cpu_s)


def print_speed(rounds: int, package: str) -> None:
    """How long the first and the second run take, and a run over nothing."""
    check = [sys.executable, "-P", "-m", "lowwater", "check"]
    parse = [sys.executable, "-P", str(Path(__file__).resolve()), "--parse", package]
    took: dict[str, list[Took]] = {"parse": [], "first": [], "second": [], "start": []}
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as folder:
            took["parse"].append(timed(parse, folder))
            took["first"].append(timed([*check, package], folder))
            took["second"].append(timed([*check, package], folder))
            empty = Path(folder, "empty")
            empty.mkdir()
            took["start"].append(timed([*check, "--no-cache", str(empty)], folder))
    _print_files(package)
    print("| run | seconds | beside ast.parse | processor seconds | beside ast.parse |")
    print("|---|---|---|---|---|")
    names = {
        "parse": "`ast.parse`, all cores",
        "first": "first run",
        "second": "second run, nothing changed",
        "start": "a run over an empty folder",
    }
    for key, name in names.items():
        print(_speed_row(name, took[key], took["parse"]))


def _speed_row(name: str, took: Sequence[Took], parse: Sequence[Took]) -> str:
    wall = statistics.median(one.wall_s for one in took)
    cpu = statistics.median(one.cpu_s for one in took)
    pairs = list(zip(took, parse, strict=True))
    beside = statistics.median(one.wall_s / other.wall_s for one, other in pairs)
    beside_cpu = statistics.median(one.cpu_s / other.cpu_s for one, other in pairs)
    return f"| {name} | {wall:.2f} | {beside:.2f} | {cpu:.2f} | {beside_cpu:.2f} |"


def _print_files(package: str) -> None:
    """How many files there are, and how many are parsed at all."""
    paths = list(files([package]))
    look = WordSearch(ProjectModules([package]).find, read)
    parsed = [path for path in paths if look.codes(path, read(path))]
    size, asked = (sum(map(os.path.getsize, some)) / MIB for some in (paths, parsed))
    print(
        f"\n{package}: {len(paths)} files, {size:.1f} MiB; "
        f"parsed {len(parsed)}, {asked:.1f} MiB; {len(os.sched_getaffinity(0))} cores"
    )


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5, help="runs of each, of which the middle")
    parser.add_argument("--package", help="a folder to check in place of the installed keras")
    parser.add_argument("--parse", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.parse:
        parse_on_all_cores(given.parse)
        return
    print_specimens()
    spec = find_spec("keras")
    package = given.package or (spec and str(Path(spec.origin or "").parent))
    if package:
        print_speed(given.rounds, package)
    else:
        print("\nkeras is not installed here: no times")


if __name__ == "__main__":
    main()
