"""Lowwater is made to fail in every part that runs inside the program, which must not notice.

At each point an exception, a MemoryError, a signal whose handler raises, and a Ctrl-C. It is held
where the program's output, results, exit code and signals are those of a plain run.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

INJECTED = Path(__file__).parent / "injected"
TIMEOUT_S = 120
RAISED = ("exception", "MemoryError")
SIGNALS = ("signal", "Ctrl-C")
# What is being done -> the functions of the agent that do it.
POINTS = {
    "start": [
        "lowwater.agent.agent:Agent.install",
        "lowwater.agent.agent:describe",
        "lowwater.agent.journal:Journal.record",
        "lowwater.agent.instrumentation.borrowed:load_what_is_needed_later",
    ],
    "probe": [
        "lowwater.probes.host:HostProbe.read",
        "lowwater.probes.glibc:GlibcProbe.read",
        "lowwater.probes.cpython:CPythonProbe.read",
        "lowwater.probes.results:ResultsProbe.read",
    ],
    "writer": [
        "lowwater.recording.writer:Writer.append",
        "lowwater.recording.writer:Writer._append",
        "lowwater.recording.writer:encoded",
        "lowwater.recording.writer:Writer._is_ours",
    ],
    "tick": [
        "lowwater.agent.instrumentation._tick:Passes.look",
        "lowwater.agent.instrumentation._tick:Passes._adapt",
        "lowwater.agent.instrumentation._tick:Passes.after_last",
        "lowwater.agent.instrumentation._tick:Passes.completed",
        "lowwater.agent.observer:Observer.unit_id",
        "lowwater.agent.observer:Observer.boundary",
        "lowwater.agent.observer:Observer._sample",
        "lowwater.agent.observer:Observer.heartbeat",
    ],
    "hook": [
        "lowwater.agent.agent:Agent.add_ticks",
        "lowwater.agent.instrumentation._imports:UserModules._find_spec",
        "lowwater.agent.instrumentation.loops:_LoopMarker.visit_For",
    ],
    "collection": [
        "lowwater.agent.suspicion:Suspicion.wants_collection",
        "lowwater.agent.escalation:Escalation._collect",
        "lowwater.agent.suspicion:Suspicion.collected",
    ],
    "census": [
        "lowwater.agent.escalation:Escalation._take_census",
        "lowwater.agent.inquest:Inquest._counts",
        "lowwater.agent.census.census:CensusTaker.take",
        "lowwater.agent.census.walk:Walk.run",
        "lowwater.agent.census.sizes:Sizes.total",
        "lowwater.agent.census.growth:summarise",
        "lowwater.agent.census.growth:compare",
        "lowwater.agent.census.growth_site:Sources.add",
    ],
    "end": [
        "lowwater.agent.observer:Observer.finish",
        "lowwater.agent.inquest:Inquest.last_words",
        "lowwater.agent.agent:versions_loaded",
    ],
}
# Before it runs the program has no handlers yet: there a signal ends it, watched or not.
WITHOUT_SIGNALS = {"start"}


@dataclass(frozen=True)
class Fault:
    """What happens where, at which call of the function."""

    part: str
    function: str
    kind: str
    call: int = 1

    def __str__(self) -> str:
        """For a test's name and the list of failures."""
        return f"{self.part}: {self.kind} in {self.function}, call {self.call}"


@dataclass(frozen=True)
class Seen:
    """What a user sees of a run."""

    stdout: str
    stderr: str
    returncode: int


def faults(calls: int = 1) -> Iterator[Fault]:
    """All of them, at the first calls of each function."""
    for part, functions in POINTS.items():
        kinds = RAISED if part in WITHOUT_SIGNALS else RAISED + SIGNALS
        for function in functions:
            for kind in kinds:
                yield from (Fault(part, function, kind, call + 1) for call in range(calls))


def plain(program: str = "program.py") -> Seen:
    """The program by itself."""
    return _run([sys.executable, str(INJECTED / program)], {})


def injected(fault: Fault, program: str = "program.py") -> tuple[Seen, bool]:
    """The program under watch, and whether the fault really happened."""
    module, function = fault.function.split(":")
    with tempfile.TemporaryDirectory() as folder:
        fired = Path(folder, "fired")
        told = {"module": module, "function": function, "kind": fault.kind, "call": fault.call}
        variables = {
            "PYTHONPATH": os.pathsep.join([str(INJECTED), os.environ.get("PYTHONPATH", "")]),
            "LOWWATER_FAULT": json.dumps({**told, "fired": str(fired)}),
        }
        command = [sys.executable, "-m", "lowwater", "run", "-q", str(INJECTED / program)]
        return _run(command, variables), fired.exists()


def is_held(fault: Fault, seen: Seen, expected: Seen) -> bool:
    """Whether the program was as it is by itself, but for the signal that it got, once."""
    got = "signals 0 0"
    if fault.kind in SIGNALS and fault.part != "end":
        got = "signals 1 1" if fault.kind == "signal" else "signals 0 1"
    stdout = expected.stdout.replace("signals 0 0", got)
    return seen == Seen(stdout, expected.stderr, expected.returncode)


def _run(command: list[str], variables: dict[str, str]) -> Seen:
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **variables},
        stdin=subprocess.DEVNULL,
        timeout=TIMEOUT_S,
    )
    return Seen(done.stdout, done.stderr, done.returncode)


def main() -> None:
    """Print the table: injected, held."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=3, help="the first calls of each function")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # in the background of a script
        signal.signal(signal.SIGINT, signal.default_int_handler)
    expected = plain()
    wanted = [*faults(options.calls)]
    with ThreadPoolExecutor(options.jobs) as pool:
        found = [*zip(wanted, pool.map(injected, wanted), strict=True)]
    happened, held = Counter[str](), Counter[str]()
    for fault, (seen, has_fired) in found:
        happened[fault.part] += has_fired
        held[fault.part] += has_fired and is_held(fault, seen, expected)
        if has_fired and not is_held(fault, seen, expected):
            print(f"NOT HELD  {fault}", seen.returncode, seen.stdout[-200:], seen.stderr[-900:])
    print("| part | injected | held |\n|---|---:|---:|")
    for part in POINTS:
        print(f"| {part} | {happened[part]} | {held[part]} |")
    print(f"| all | {happened.total()} | {held.total()} |")
    sys.exit(happened.total() != held.total())


if __name__ == "__main__":
    main()
