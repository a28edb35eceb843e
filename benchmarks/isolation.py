"""What a fresh process per trial costs: seconds for a tiny trial, interleaved in one sitting.

Each round runs the trial once in every way, in an order that turns from round to round. The
first round of each way pays for starting servers, workers and clusters, and is told apart.
"a fresh process that has imported the framework" is the floor: the trial alone, timed inside of
a process that waits for it with TensorFlow and Keras imported. `joblib` keeps its process for the
next trial, so it is not fresh: it stands here because it is what people use.
Nothing is asserted; the numbers are printed as a table and kept in benchmarks/results.
"""

import argparse
import importlib.util
import json
import multiprocessing
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "programs"))
os.environ["PYTHONPATH"] = os.pathsep.join(
    [str(HERE / "programs"), *filter(None, [os.environ.get("PYTHONPATH")])]
)

from tiny_trial import trial  # noqa: E402

RESULTS = HERE / "results" / "isolation.json"
Way = Callable[[int], float]

FLOOR = "a fresh process that has imported the framework"
OURS = "lowwater.isolated"
SPAWN = "multiprocessing, spawn"
_WAITING = """\
import sys, time
import tensorflow, keras
from tiny_trial import trial
print("ready", flush=True)
seed = int(sys.stdin.readline())
began = time.perf_counter()
loss = trial(seed)
print(time.perf_counter() - began, flush=True)
"""
_WARM = _WAITING.replace("seed = int", "trial(0)\nseed = int")


def timed(call: Callable[[], object]) -> float:
    """Seconds for one call."""
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def in_a_waiting_process(program: str) -> Way:
    """The trial alone, timed by a process that was started before."""

    def way(seed: int) -> float:
        with subprocess.Popen(
            [sys.executable, "-c", program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        ) as process:
            process.stdout.readline()
            process.stdin.write(f"{seed}\n")
            process.stdin.flush()
            return float(process.stdout.readline())

    return way


def isolated() -> Way:
    """Ours."""
    import keras  # noqa: F401 - the server imports what the caller has imported

    import lowwater

    call = lowwater.isolated(trial)
    return lambda seed: timed(lambda: call(seed))


def _send(seed: int, answers: "multiprocessing.Queue[float]") -> None:
    answers.put(trial(seed))


def spawned() -> Way:
    """A new interpreter for each trial, as the standard library starts it."""
    context = multiprocessing.get_context("spawn")

    def once(seed: int) -> None:
        answers = context.Queue()
        process = context.Process(target=_send, args=(seed, answers))
        process.start()
        answers.get()
        process.join()

    return lambda seed: timed(lambda: once(seed))


def joblib_loky() -> Way:
    """What scikit-learn uses."""
    import joblib

    def once(seed: int) -> None:
        # With one job joblib would call it here.
        joblib.Parallel(n_jobs=2, backend="loky")([joblib.delayed(trial)(seed)])

    return lambda seed: timed(lambda: once(seed))


def _ray() -> object:
    import ray

    if not ray.is_initialized():
        ray.init(include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    return ray


def ray_max_calls() -> Way:
    """Ray's own way to a fresh process for each trial."""
    ray = _ray()
    remote = ray.remote(max_calls=1)(trial)
    return lambda seed: timed(lambda: ray.get(remote.remote(seed)))


def ray_lowwater() -> Way:
    """Ours, on the same cluster."""
    import lowwater

    _ray()
    call = lowwater.isolated(trial, engine="ray")
    return lambda seed: timed(lambda: call(seed))


WAYS: dict[str, tuple[Callable[[], Way], tuple[str, ...]]] = {
    "the same process, warm": (lambda: in_a_waiting_process(_WARM), ()),
    FLOOR: (lambda: in_a_waiting_process(_WAITING), ()),
    OURS: (isolated, ()),
    SPAWN: (spawned, ()),
    "joblib, loky (keeps its process)": (joblib_loky, ("joblib",)),
    "Ray, max_calls=1": (ray_max_calls, ("ray",)),
    'lowwater.isolated, engine="ray"': (ray_lowwater, ("ray",)),
}


def measure(rounds: int) -> dict[str, list[float]]:
    """Seconds by way; the first of each list is the round that starts everything."""
    ways = {
        name: make()
        for name, (make, needs) in WAYS.items()
        if all(importlib.util.find_spec(need) for need in needs)
    }
    found: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(rounds + 1):
        names = [*ways]
        turn = number % len(names)
        for name in (*names[turn:], *names[:turn]):
            found[name].append(ways[name](number))
            print(f"round {number}  {name}: {found[name][-1]:.2f} s", file=sys.stderr)
    return found


def table(found: dict[str, list[float]]) -> str:
    """One row for each way."""
    lines = [
        "| One tiny trial | Seconds, median (lowest to highest) | The first |",
        "|---|---|---|",
    ]
    for name, (first, *rest) in found.items():
        told = f"{statistics.median(rest):.2f} ({min(rest):.2f} to {max(rest):.2f})"
        lines.append(f"| {name} | {told} | {first:.2f} |")
    lines += [f"| {name} | not installed | |" for name in WAYS if name not in found]
    return "\n".join(lines)


def verdict(found: dict[str, list[float]]) -> str:
    """The two numbers that the project promises."""
    median = {name: statistics.median(values[1:]) for name, values in found.items()}
    more, share = median[OURS] - median[FLOOR], median[OURS] / median[SPAWN]
    return (
        f"isolated takes {more:.2f} s more than the trial alone (goal: at most 0.35 s) "
        f"and {share:.2f} of the time of spawn (goal: at most 0.25)"
    )


def main() -> None:
    """Measure, print, keep."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--out", type=Path, default=RESULTS)
    asked = parser.parse_args()
    found = measure(asked.rounds)
    asked.out.parent.mkdir(parents=True, exist_ok=True)
    machine = {"python": platform.python_version(), "cores": os.cpu_count(), "gpu": "none"}
    asked.out.write_text(json.dumps({"machine": machine, "seconds": found}, indent=1) + "\n")
    print(f"\nMedian of {asked.rounds} interleaved rounds, {os.cpu_count()} cores, no GPU.\n")
    print(table(found))
    print(f"\n{verdict(found)}")


if __name__ == "__main__":
    main()
