"""How often `lowwater check` is right over all specimens, rule by rule, and how fast it is.

Two tables. The first holds what is found in every specimen against its first line: *to find* are
the leaking programs that expect the rule, and of what is found, that is *right* which the first
line expects, at a line that it names. What a rule says of an innocent program without accusing it
(a cache that fills, a buffer) is *a note*.

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
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path

# The grammar of the first lines stands with the tests that hold us to them.
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from lowwater.check.config import CheckOptions
from lowwater.check.modules import ProjectModules
from lowwater.check.run import read, run
from lowwater.check.walk import files
from lowwater.check.words import SOURCE_CAUSES, WordSearch
from lowwater.model.source import SourceFinding
from replay.first_line import INNOCENT, SPECIMENS, Truth, truth_of

MIB = 1024 * 1024


@dataclass
class Rule:
    """What one rule has found in all specimens."""

    code: str
    name: str
    to_find: list[str] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)
    right: int = 0
    wrong: int = 0
    notes: int = 0

    @property
    def missed(self) -> list[str]:
        """The leaking programs that expect it, and in which it found nothing."""
        return [name for name in self.to_find if name not in self.seen]

    def cells(self) -> str:
        """The row of the table."""
        found = len(self.to_find) - len(self.missed)
        told = self.right + self.wrong
        return (
            f"| {self.code} {self.name} | {len(self.to_find)} | {_share(found, len(self.to_find))} "
            f"| {told} | {_share(self.right, told)} | {self.notes} | {', '.join(self.missed)} |"
        )


def _share(part: int, whole: int) -> str:
    return f"{part} ({part / whole:.0%})" if whole else "–"


def judge_specimens() -> list[Rule]:
    """Every rule over every specimen."""
    rules = {cause.code: Rule(cause.code, cause.name) for cause in SOURCE_CAUSES}
    for path in sorted(SPECIMENS.glob("*.py")):
        truth = truth_of(path)
        found = run([str(path)], CheckOptions(preview=True)).findings
        for code in _expected(truth, found):
            if code in rules:
                rules[code].to_find.append(path.stem)
        for one in found:
            if one.code in rules:
                _count(rules[one.code], one, truth, path.stem)
    return list(rules.values())


def _expected(truth: Truth, found: Sequence[SourceFinding]) -> Iterator[str]:
    """The code that each clause expects: of several that are equally right, the one found."""
    codes = {one.code for one in found}
    for clause in truth.findings:
        if truth.is_leak:
            yield next((code for code in clause.codes if code in codes), clause.codes[0])


def _count(rule: Rule, finding: SourceFinding, truth: Truth, name: str) -> None:
    lines = [one.lines for one in truth.findings if rule.code in one.codes]
    is_right = any(not each or finding.span.line in each for each in lines)
    if is_right:
        rule.right += 1
        rule.seen.add(name)
    elif rule.code in INNOCENT:
        rule.notes += 1
    else:
        rule.wrong += 1


def print_specimens() -> None:
    """The table of the rules, and its totals."""
    rules = judge_specimens()
    print(
        "| rule | to find | found | told | right | notes | missed |\n|---|---|---|---|---|---|---|"
    )
    for rule in sorted(rules, key=lambda one: one.code):
        print(rule.cells())
    to_find = sum(len(one.to_find) for one in rules)
    found = to_find - sum(len(one.missed) for one in rules)
    right, wrong = sum(one.right for one in rules), sum(one.wrong for one in rules)
    flat = [path for path in SPECIMENS.glob("*.py") if not truth_of(path).is_leak]
    print(
        f"\nrecall {_share(found, to_find)} of {to_find}, "
        f"precision {_share(right, right + wrong)} of {right + wrong}; "
        f"{len(flat)} of {len([*SPECIMENS.glob('*.py')])} programs are innocent"
    )


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
