"""What frees the memory of a GPU: every piece of common advice, and what Lowwater does instead.

The GPU is host memory that plays one (tests/hostgpu): TensorFlow and its pool are real, the
hardware is not. Each row is a process of its own with a device of its own, twenty rounds each;
then TensorFlow says what is in use on the device, and the driver what is taken of it: in the
process, and once more when it has ended. Bytes are counted, so a busy machine changes nothing.
The numbers are kept in benchmarks/results, and written to docs/what-really-frees-memory.md.

$ python benchmarks/devices.py                    # about ten minutes on two cores
$ python benchmarks/devices.py --only lifecycle   # some, printed only; kept with --write
"""

import argparse
import json
import os
import runpy
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests"))

from hostgpu.build import build  # noqa: E402 - it is a part of the tests
from hostgpu.machine import Machine  # noqa: E402

PAGE = runpy.run_path(str(HERE / "what_frees_page.py"))
PROGRAM = HERE / "programs" / "give_back_on_device.py"
ROUNDS = 20
DEVICE_BYTES, CONTEXT_BYTES = 2 << 30, 96 << 20
TIME_LIMIT_S = 900
ASKS_DRIVER = """
import pynvml
pynvml.nvmlInit()
print(pynvml.nvmlDeviceGetMemoryInfo(pynvml.nvmlDeviceGetHandleByIndex(0)).used)
"""


def planned() -> Iterator[tuple[str, str]]:
    """Program and advice of every row."""
    plan = PAGE["PLAN"]
    yield from (("models", advice) for advice in plan["ON_DEVICE_MODELS"])
    yield from plan["ON_DEVICE_SMALL"]


def measured(machine: Machine, program: str, advice: str) -> dict[str, Any]:
    """One row: what is left on the device, or the reason why that is not known."""
    row: dict[str, Any] = {"program": program, "advice": advice}
    environment = machine.environment() | {"KERAS_BACKEND": "tensorflow"}
    command = [sys.executable, "-P", str(PROGRAM), program, advice, "--rounds", str(ROUNDS)]
    try:
        done = subprocess.run(
            command,
            env=environment,
            capture_output=True,
            text=True,
            timeout=TIME_LIMIT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return row | {"not_measured": f"not finished after {TIME_LIMIT_S} s"}
    told = done.stdout.rpartition("LEVELS=")[2]
    if done.returncode or not told:
        why = (done.stderr.strip().splitlines() or ["it printed nothing"])[-1]
        return row | {"not_measured": why[:200]}
    asked = [sys.executable, "-P", "-c", ASKS_DRIVER]
    after = subprocess.run(asked, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return row | json.loads(told) | {"driver_after_end_bytes": int(after.stdout)}


def merged(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The new rows, and those of before that were not measured again, in the order of the page."""
    kept = json.loads(PAGE["ON_DEVICE"].read_text())["rows"] if PAGE["ON_DEVICE"].exists() else []
    known = {(row["program"], row["advice"]): row for row in (*kept, *rows)}
    return [known[place] for place in planned() if place in known]


def main() -> None:
    """Measure the rows one after the other; keep the numbers and write the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", default="", help="rows whose `program advice` has this text")
    parser.add_argument("--write", action="store_true", help="keep the results of --only, too")
    asked = parser.parse_args()
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        built = build(Path(folder))
        for number, place in enumerate(one for one in planned() if asked.only in " ".join(one)):
            book = Path(folder) / f"book{number}"
            rows.append(measured(Machine(built, book, [DEVICE_BYTES], CONTEXT_BYTES), *place))
            print(*place, rows[-1].get("not_measured", ""), file=sys.stderr, flush=True)
    results = {
        "schema": "lowwater.devices/1",
        "rounds": ROUNDS,
        "device_bytes": DEVICE_BYTES,
        "context_bytes": CONTEXT_BYTES,
    }
    print(PAGE["DEVICE"]["tables"](results | {"rows": rows}))
    if asked.write or not asked.only:
        results["rows"] = merged(rows)
        PAGE["ON_DEVICE"].write_text(json.dumps(results, indent=1) + "\n")
        PAGE["write"](json.loads(PAGE["KEPT"].read_text()))


if __name__ == "__main__":
    main()
