"""What watching costs: time beside a plain run, interleaved in one sitting.

Each round runs every program under every tool, in an order that turns from round to round, so
that a slow minute of the machine hits all alike. A ratio compares two runs of the same round.
One of the programs trains on a GPU that is only host memory (tests/hostgpu): there the driver is
asked as well.
"plain, again" is a second plain run: its spread is the noise that all other numbers carry.
Processor time is told beside wall time, for a busy machine disturbs it less.
The programs run for about half a minute; what a run costs however short it is, is told apart.
The tools that double the time or worse take part in the first round only.
Nothing is asserted; the numbers are printed as a table and kept in benchmarks/results.
"""

import argparse
import atexit
import importlib.metadata
import json
import os
import platform
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests"))

from hostgpu.build import build  # noqa: E402 - it is a part of the tests
from hostgpu.machine import Machine  # noqa: E402

ON_DEVICE = "fit_on_device"
PROGRAMS = ("fit_small_steps", "train_on_batch_loop", "hot_python_loop", ON_DEVICE)
NOTHING = "nothing_at_all"
RESULTS = HERE / "results" / "overhead.json"
PLAIN = "plain"
TIME_LIMIT_S = 600


@dataclass(frozen=True)
class Tool:
    """One way to run a program; `arguments` stand between the interpreter and the program."""

    name: str
    arguments: tuple[str, ...] = ()
    distribution: str | None = None
    in_every_round: bool = False

    @property
    def label(self) -> str:
        """The name with its version, for the table."""
        if self.distribution is None:
            return self.name
        return f"{self.name} {version_of(self.distribution) or '(not installed)'}"


@dataclass(frozen=True)
class Timing:
    """One run: the whole of it, its processor time, and the loop as the program timed it."""

    tool: str
    program: str
    round: int
    wall_s: float | None = None
    cpu_s: float | None = None
    loop_s: float | None = None
    failure: str | None = None


TOOLS = (
    Tool(PLAIN, in_every_round=True),
    Tool("plain, again", in_every_round=True),
    Tool("lowwater", ("-m", "lowwater", "run"), "lowwater", in_every_round=True),
    Tool("tracemalloc", ("-X", "tracemalloc")),
    Tool("memray", ("-m", "memray", "run", "--quiet", "--output", "memray.bin"), "memray"),
    Tool("scalene", ("-m", "scalene", "run", "--outfile", "scalene.json"), "scalene"),
)


def version_of(distribution: str | None) -> str | None:
    """The installed version, or None."""
    try:
        return importlib.metadata.version(distribution) if distribution else None
    except importlib.metadata.PackageNotFoundError:
        return None


@cache
def machine() -> Machine:
    """One with a device of 2 GiB, free again after each program."""
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Machine(build(Path(folder)), Path(folder) / "book", [2 << 30], 96 << 20)


def environment_of(program: str) -> Mapping[str, str]:
    """What the program finds, with a device if it is the one that has one."""
    around = machine().environment() if program == ON_DEVICE else os.environ
    return {**around, "TF_CPP_MIN_LOG_LEVEL": "3", "KERAS_BACKEND": "tensorflow"}


def processor_s() -> float:
    """User and system time of all processes that have ended below this one."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measure(tool: Tool, program: str, round_number: int) -> Timing:
    """Run the program once under the tool, in an empty folder of its own."""
    command = [sys.executable, *tool.arguments, str(HERE / "programs" / f"{program}.py")]
    with tempfile.TemporaryDirectory() as folder:
        environment = environment_of(program)
        cpu_before_s, started = processor_s(), time.perf_counter()
        try:
            done = subprocess.run(
                command,
                cwd=folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=TIME_LIMIT_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            failure = f"not finished after {TIME_LIMIT_S} s"
            return Timing(tool.name, program, round_number, failure=failure)
        wall_s, cpu_s = time.perf_counter() - started, processor_s() - cpu_before_s
    loop = re.search(r"LOOP_S=([\d.]+)", done.stdout)
    if done.returncode or loop is None:
        failure = (done.stderr.strip().splitlines() or ["it printed nothing"])[-1]
        return Timing(tool.name, program, round_number, failure=failure[:200])
    return Timing(tool.name, program, round_number, wall_s, cpu_s, float(loop[1]))


def run_rounds(tools: Sequence[Tool], programs: Sequence[str], rounds: int) -> Iterable[Timing]:
    """All runs, interleaved; who goes first changes with every round."""
    for program in programs:  # so that the first run does not pay for reading files from the disk
        measure(TOOLS[0], program, -1)
    for round_number in range(rounds):
        here = [tool for tool in tools if tool.in_every_round or round_number == 0]
        turn = round_number % len(here)
        for program in programs:
            for tool in (*here[turn:], *here[:turn]):
                timing = measure(tool, program, round_number)
                told = timing.failure or f"{timing.wall_s:.2f} s"
                print(f"round {round_number + 1}  {program}  {tool.name}: {told}", file=sys.stderr)
                yield timing


def ratios(timings: Sequence[Timing], tool: str, program: str, measured: str) -> list[float]:
    """The tool's time over the plain time of the same round, for every round that has both."""
    by_round = {
        (timing.tool, timing.round): getattr(timing, measured)
        for timing in timings
        if timing.program == program and timing.failure is None
    }
    rounds = sorted(number for name, number in by_round if name == tool)
    return [
        by_round[tool, number] / by_round[PLAIN, number]
        for number in rounds
        if (PLAIN, number) in by_round
    ]


def summary(values: Sequence[float]) -> str:
    """`1.010 (0.990 to 1.030)`: the median, and the lowest and highest round."""
    if not values:
        return "not measured"
    return f"{statistics.median(values):.3f} ({min(values):.3f} to {max(values):.3f})"


def table(timings: Sequence[Timing], tools: Sequence[Tool], programs: Sequence[str]) -> str:
    """The medians as a Markdown table, one row per tool and program."""
    lines = [
        "| Program | Run under | Wall time, ratio to plain | Processor time | Its loop alone |",
        "|---|---|---|---|---|",
    ]
    for program in programs:
        for tool in tools:
            if tool.name == PLAIN:
                continue
            cells = [
                summary(ratios(timings, tool.name, program, measured))
                for measured in ("wall_s", "cpu_s", "loop_s")
            ]
            lines.append(f"| `{program}` | {tool.label} | {' | '.join(cells)} |")
    return "\n".join(lines)


def fixed_costs(timings: Sequence[Timing], tools: Sequence[Tool]) -> str:
    """What each tool adds to a script that does nothing, in seconds."""
    walls: dict[str, list[float]] = {}
    for timing in timings:
        if timing.program == NOTHING and timing.wall_s is not None:
            walls.setdefault(timing.tool, []).append(timing.wall_s)
    plain_s = statistics.median(walls[PLAIN])
    told = [
        f"{tool.label} {statistics.median(walls[tool.name]) - plain_s:+.2f} s"
        for tool in tools
        if tool.name in walls and tool.name != PLAIN
    ]
    return f"A script that does nothing takes {plain_s:.2f} s; " + ", ".join(told)


def failures(timings: Iterable[Timing]) -> list[str]:
    """One line for each run that gave no number."""
    return [
        f"{timing.tool} on {timing.program}, round {timing.round + 1}: {timing.failure}"
        for timing in timings
        if timing.failure
    ]


def results(timings: Sequence[Timing], rounds: int) -> dict[str, object]:
    """Everything needed to judge the numbers later."""
    distributions = ("lowwater", "tensorflow", "tensorflow-cpu", "keras", "memray", "scalene")
    versions = {name: version_of(name) for name in distributions}
    return {
        "schema": "lowwater.overhead/1",
        "machine": {
            "python": platform.python_version(),
            "system": f"{platform.system()} {platform.release()} {platform.machine()}",
            "cores": os.cpu_count(),
            "gpu": f"not used; {ON_DEVICE} runs on host memory that plays one",
        },
        "versions": {name: version for name, version in versions.items() if version},
        "rounds": rounds,
        "timings": [asdict(timing) for timing in timings],
    }


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    names = [tool.name for tool in TOOLS if tool.name != PLAIN]
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--program", choices=PROGRAMS, action="append", help="default: all")
    parser.add_argument("--tool", choices=names, action="append", help="default: all")
    parser.add_argument("--out", type=Path, default=RESULTS)
    return parser.parse_args()


def main() -> None:
    """Measure, print the table, keep the numbers."""
    asked = arguments()
    programs = asked.program or PROGRAMS
    tools = [
        tool for tool in TOOLS if tool.name in {PLAIN, *(asked.tool or [t.name for t in TOOLS])}
    ]
    timings = list(run_rounds(tools, (*programs, NOTHING), asked.rounds))
    asked.out.parent.mkdir(parents=True, exist_ok=True)
    asked.out.write_text(json.dumps(results(timings, asked.rounds), indent=1) + "\n")
    print(
        f"\nMedian of {asked.rounds} interleaved rounds (lowest to highest), "
        f"{os.cpu_count()} cores, no GPU ({ON_DEVICE}: host memory that plays one). "
        f"Numbers: {asked.out}\n"
    )
    print(table(timings, tools, programs))
    print(f"\n{fixed_costs(timings, tools)}")
    print("".join(f"\nnot measured: {line}" for line in failures(timings)))


if __name__ == "__main__":
    main()
