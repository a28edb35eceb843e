"""Twenty rounds of build, fit and forget: what has grown since the second one, as a table.

Each line is a process of its own, with `mend()` alone or `lifecycle` alone. Before the two
readings that are compared the collector runs once, for measuring; between them it runs when
Python likes. The last line is the full recipe of common advice, to compare with.

$ python benchmarks/rounds.py                        # about 15 minutes on two cores
$ python benchmarks/rounds.py --only dense           # one or two
"""

import argparse
import runpy
from pathlib import Path
from typing import Any

READINGS = runpy.run_path(str(Path(__file__).resolve().with_name("clean_process.py")))["readings"]
RECIPE = "del+collect+clear_session+collect"
NAMES = {"mend": "mend()", "lifecycle": "lifecycle", RECIPE: "full recipe"}
# What the project promises: bytes of the small model and of MobileNetV2, and objects.
PROMISED_BYTES = {"dense": 1_000_000, "mobilenet": 5_000_000}
PROMISED_OBJECTS = 200
ROUNDS, SINCE = 20, 2
TIME_LIMIT_S = 3600
CASES = (
    *((program, advice) for program in PROMISED_BYTES for advice in ("mend", "lifecycle")),
    # Of MobileNetV2 it would keep gigabytes.
    ("dense", RECIPE),
)
LINE = "{:<12} {:<12} {:>12} {:>12} {:>10} {:>10}  {}"


def compared(program: str, advice: str) -> str:
    """One line of the table."""
    cell, counted = (program, "tensorflow", advice), ROUNDS - SINCE
    found = READINGS(cell, rounds=counted, warm_up=SINCE, limit_s=TIME_LIMIT_S)
    if "not_measured" in found:
        return f"{program:<12} {NAMES[advice]:<12} not measured: {found['not_measured']}"
    before, after = found["before"], found["after"]
    grown = after["in_use_bytes"] - before["in_use_bytes"]
    objects = after["objects"] - before["objects"]
    numbers = [_mb(before["in_use_bytes"]), _mb(after["in_use_bytes"]), _mb(grown), str(objects)]
    return LINE.format(program, NAMES[advice], *numbers, _judged(program, grown, objects))


def _judged(program: str, grown_bytes: int, objects: int) -> str:
    is_kept = abs(grown_bytes) < PROMISED_BYTES[program] and abs(objects) < PROMISED_OBJECTS
    return "flat" if is_kept else "grows"


def _mb(count: int) -> str:
    return f"{count / 1e6:.2f}"


def chosen() -> list[tuple[str, str]]:
    """The cases that the command line asks for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", default="", help="cases whose `program advice` has this text")
    asked: Any = parser.parse_args()
    return [case for case in CASES if asked.only in " ".join(case)]


def main() -> None:
    """Measure the cases one after the other."""
    print(f"in use, MB, after a collection; {ROUNDS} rounds, compared with round {SINCE}")
    head = (f"round {SINCE}", f"round {ROUNDS}", "grown", "objects", "")
    print(LINE.format("model", "with", *head).rstrip())
    for case in chosen():
        print(compared(*case), flush=True)
    small, large = (f"{PROMISED_BYTES[name] / 1e6:.0f} MB" for name in PROMISED_BYTES)
    print(f"flat: less than {small} (MobileNetV2: {large}) and {PROMISED_OBJECTS} objects")


if __name__ == "__main__":
    main()
