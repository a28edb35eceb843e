"""Twenty rounds of build, fit and forget: what each of them leaves behind, as a table.

Each line is a process of its own, with one of our ways to give memory back, alone: `mend()`, a
`lifecycle` around each round, or `release(model)` at the end of the function that has built the
model. Before the two readings that are compared the collector runs once, for measuring; between
them it runs when Python likes. The rounds are counted after two others. With `mend()` libraries
keep tables that grow within the first ten rounds (pybind11's of all its objects, protobuf's of all
messages, TensorFlow's of all resources and functions); collecting more often does not change that.
It is once, and counts here; with more rounds there is less of it in each. The last line is the
full recipe of common advice, to compare with.

$ python benchmarks/rounds.py                        # about 20 minutes on two cores
$ python benchmarks/rounds.py --only dense           # one or two
$ python benchmarks/rounds.py --only "dense mend" --rounds 80
"""

import argparse
import runpy
from pathlib import Path
from typing import Any

READINGS = runpy.run_path(str(Path(__file__).resolve().with_name("clean_process.py")))["readings"]
RECIPE = "del+collect+clear_session+collect"
NAMES = {
    "mend": "mend()",
    "lifecycle": "lifecycle",
    "release_inside": "release(model)",
    RECIPE: "full recipe",
}
OURS = ("mend", "lifecycle", "release_inside")
# What the project promises: bytes per round of the small model and of MobileNetV2, and objects.
PROMISED_BYTES = {"dense": 20_000, "mobilenet": 200_000}
PROMISED_OBJECTS = 200
ROUNDS, WARM_UP = 20, 2
TIME_LIMIT_S = 3600
CASES = (
    *((program, advice) for program in PROMISED_BYTES for advice in OURS),
    # Of MobileNetV2 it would keep gigabytes.
    ("dense", RECIPE),
)
LINE = "{:<12} {:<14} {:>12} {:>12} {:>10} {:>10}  {}"


def compared(program: str, advice: str, rounds: int = ROUNDS) -> str:
    """One line of the table."""
    found = READINGS(
        (program, "tensorflow", advice),
        rounds=rounds,
        warm_up=WARM_UP,
        limit_s=TIME_LIMIT_S,
    )
    if "not_measured" in found:
        return f"{program:<12} {NAMES[advice]:<14} not measured: {found['not_measured']}"
    before, after = found["before"], found["after"]
    per_round = (after["in_use_bytes"] - before["in_use_bytes"]) / rounds
    objects = after["objects"] - before["objects"]
    levels = [f"{one['in_use_bytes'] / 1e6:.2f}" for one in (before, after)]
    numbers = [*levels, f"{per_round / 1e6:.3f}", str(objects)]
    return LINE.format(program, NAMES[advice], *numbers, _judged(program, per_round, objects))


def _judged(program: str, bytes_per_round: float, objects: int) -> str:
    is_kept = bytes_per_round <= PROMISED_BYTES[program] and abs(objects) < PROMISED_OBJECTS
    return "flat" if is_kept else "grows"


def asked_for() -> tuple[list[tuple[str, str]], int]:
    """The cases that the command line asks for, and how many rounds."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", default="", help="cases whose `program advice` has this text")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="more than the promise is for")
    asked: Any = parser.parse_args()
    return [case for case in CASES if asked.only in " ".join(case)], asked.rounds


def main() -> None:
    """Measure the cases one after the other."""
    cases, rounds = asked_for()
    print(f"in use, MB, after a collection, before and after {rounds} rounds")
    head = ("before", "after", "per round", "objects", "")
    print(LINE.format("model", "with", *head).rstrip())
    for case in cases:
        print(compared(*case, rounds), flush=True)
    small, large = (f"{PROMISED_BYTES[name] / 1e6:g} MB" for name in PROMISED_BYTES)
    print(
        f"flat: at most {small} per round (MobileNetV2: {large}), less than "
        f"{PROMISED_OBJECTS} objects in all"
    )


if __name__ == "__main__":
    main()
