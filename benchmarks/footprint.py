"""How far `lowwater.footprint()` is off: its prediction against the real peak, model by model.

Each model is measured at small batches by Lowwater, which then predicts the peak at four times
the largest of them, and for some models at 64 times. Real is the highest of several steps of a
real `fit` with that batch in another fresh process. Beside it: the formula that people use (4
bytes for each parameter, gradient, slot of the optimizer and output of a layer) and the buffers
that XLA assigns to the compiled step.

$ python benchmarks/footprint.py                       # all
$ python benchmarks/footprint.py --only cnn --only mlp # these again; the others stay as they are
$ python benchmarks/footprint.py --only cnn@jax        # on another backend of Keras
$ python benchmarks/footprint.py --only "mlp*64"       # at 64 times the largest measured batch
$ python benchmarks/footprint.py --write               # the table in docs/measurements.md as well

What is not there yet is measured; `--again` measures all. Kept in benchmarks/results.
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from models import NAMES  # noqa: E402 - it is beside this file

RESULTS = HERE / "results" / "footprint.json"
PAGE = HERE.parent / "docs" / "measurements.md"
PLACE = re.compile(r"(?<=<!-- footprint:start -->\n).*?(?=<!-- footprint:end -->)", re.DOTALL)
MIB = 1 << 20
STEPS = 8
FACTOR = 4
# Also on the other backends of Keras, as `cnn@jax`: their peak is not that of a pool but the one
# that Lowwater itself measures at the larger batch, so these rows judge the extension alone.
ELSEWHERE = ("mlp", "cnn", "lstm", "transformer", "two_inputs")
# At four times a small batch, the gradients of these still are the peak, which says little. So
# they are also asked what 64 times as much takes.
FAR = tuple(f"{name}*64" for name in ("mlp", "wide_dense", "embedding_heavy"))
ALL = (*NAMES, *FAR, *(f"{name}@{backend}" for backend in ("jax", "torch") for name in ELSEWHERE))
LIMIT_S = 900
# These are also asked for the largest batch below a limit, and the true one is found by bisection.
LIMITS_MIB = {"cnn": 400, "two_inputs": 300, "transformer": 500}
# A bisection ends when what fits and what does not are as close as this.
CLOSE = 0.01
POOL = {"TF_CPU_ALLOCATOR_USE_BFC": "1", "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}
Row = dict[str, Any]


def told(program: str, *arguments: object, **variables: str) -> Any:  # noqa: ANN401 - JSON
    """What a program prints as its last line of JSON; a sentence or a signal where it fails."""
    command = [sys.executable, "-P", str(HERE / "programs" / program), *map(str, arguments)]
    try:
        done = subprocess.run(
            command,
            env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", **variables},
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=False,
        )
    except subprocess.TimeoutExpired as late:
        lines = _json_lines((late.stdout or b"").decode())
        return json.loads(lines[-1]) if lines else f"not finished after {LIMIT_S} s"
    lines = _json_lines(done.stdout)
    if not lines and done.returncode < 0:
        return {"signal": -done.returncode}
    if not lines:
        return (done.stderr.strip().splitlines() or ["it printed nothing"])[-1][:200]
    return json.loads(lines[-1])


def _json_lines(printed: str) -> list[str]:
    return [line for line in printed.splitlines() if line.startswith(("{", "["))]


def row_of(name: str) -> Row:
    """Predicted, and then made."""
    title, _, backend = name.partition("@")
    model, _, factor = title.partition("*")
    there = {"KERAS_BACKEND": backend or "tensorflow", "JAX_PLATFORMS": "cpu"}
    row = told("footprint_predicted.py", model, factor or FACTOR, **POOL, **there)
    if isinstance(row, str) or "signal" in row:
        return {"model": name, "failed": str(row)}
    real = "footprint_measured.py" if backend else "footprint_real.py"
    row["model"] = name
    peaks = told(real, model, row["batch_size"], STEPS, **POOL, **there)
    row["real_peaks_bytes"] = peaks
    return dict(row)


def fits(name: str, batch_size: int, limit_mib: int) -> bool:
    """Whether real steps with this batch run in a pool of this size.

    Kernels of oneDNN may end the process by a signal where memory runs out.
    """
    limit = {"TF_CPU_BFC_MEM_LIMIT_IN_MB": str(limit_mib)}
    answer = told("footprint_real.py", name, batch_size, STEPS, **POOL, **limit)
    if isinstance(answer, list | dict):
        return isinstance(answer, list)
    raise RuntimeError(answer)


def largest_of(name: str) -> Row:
    """What Lowwater says, and what bisection finds."""
    limit = LIMITS_MIB[name]
    said = told("footprint_largest.py", name, f"{limit} MiB")
    if isinstance(said, str):
        return {"model": name, "limit_mib": limit, "failed": said}
    good, bad = 0, max(2, round(said["batch_size"] * 1.08))
    while fits(name, bad, limit):
        good, bad = bad, round(1.1 * bad)
    good = good or round(said["batch_size"] * 0.94)
    while not fits(name, good, limit):
        good, bad = round(0.9 * good), good
    while bad - good > max(1, CLOSE * good):
        middle = (good + bad) // 2
        good, bad = (middle, bad) if fits(name, middle, limit) else (good, middle)
    return {"model": name, "limit_mib": limit, **said, "true_batch_size": good}


def error_of(said: object, row: Row) -> float | None:
    """By how much a number of bytes misses the real peak, as a share of it."""
    peaks = row.get("real_peaks_bytes")
    if not isinstance(said, int | float) or not isinstance(peaks, list):
        return None
    return float(said / max(peaks) - 1)


def _percent(error: float | None) -> str:
    return "–" if error is None else f"{100 * error:+.1f} %"


def _line(row: Row) -> str:
    if "failed" in row:
        return f"| {row['model']} | {row['failed']} | | | | | |"
    peaks = row["real_peaks_bytes"]
    if isinstance(peaks, str):
        return f"| {row['model']} | {row['batch_size']} | {peaks} | | | | |"
    real = f"{max(peaks) / MIB:.0f} MiB ({min(peaks) / MIB:.0f} to {max(peaks) / MIB:.0f})"
    said, span = row["predicted_bytes"], row["interval_bytes"]
    ours = f"{said / MIB:.0f} MiB" if said else f"refused: {row['because']}"
    within = "" if not span else ("yes" if span[0] <= max(peaks) <= span[1] else "no")
    cells = [_percent(error_of(row.get(key), row)) for key in ("formula_bytes", "compiler_bytes")]
    ours_error = f"**{_percent(error_of(said, row))}**" if said else "–"
    size = f"{row['largest_measured']} → {row['batch_size']}"
    name = row["model"].partition("*")[0].replace("_", " ")
    return f"| {name} | {size} | {real} | {ours} | {ours_error} | {within} | {' | '.join(cells)} |"


def _summary(rows: list[Row]) -> str:
    lines = []
    for key, name in (
        ("predicted_bytes", "`lowwater.footprint()`"),
        ("formula_bytes", "the usual formula"),
        ("compiler_bytes", "XLA's buffers"),
    ):
        errors = [abs(e) for row in rows if (e := error_of(row.get(key), row)) is not None]
        if errors:
            middle, worst = statistics.median(errors), max(errors)
            lines.append(f"| {name} | {len(errors)} | {100 * middle:.1f} % | {100 * worst:.1f} % |")
    head = "| Prediction | Models | Median error | Worst error |\n|---|---:|---:|---:|\n"
    return head + "\n".join(lines)


def table(results: Row) -> str:
    """All that was found, as Markdown."""
    rows = [results["peaks"][name] for name in ALL if name in results["peaks"]]
    head = (
        "| Model | Batch: largest measured → predicted | Real peak (all steps) | Predicted | Error "
        "| In the interval | Formula | XLA |\n|---|---|---:|---:|---:|---|---:|---:|\n"
    )
    head_line = (
        f"TensorFlow on two busy cores, no GPU; peaks of TensorFlow's pool in a real `fit` "
        f"of {STEPS} steps (`benchmarks/footprint.py`):"
    )
    parts = [
        head_line,
        head + "\n".join(_line(row) for row in rows),
        _summary(rows),
    ]
    if results["largest"]:
        lines = [
            "| Model | Limit | Largest batch: Lowwater | By bisection |",
            "|---|---:|---:|---:|",
        ]
        for row in results["largest"].values():
            told_here = row.get("failed", row.get("batch_size"))
            lines.append(
                f"| {row['model'].replace('_', ' ')} | {row['limit_mib']} MiB | {told_here} "
                f"| {row.get('true_batch_size', '–')} |"
            )
        parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"


def main() -> None:
    """Measure what is asked for, print the table, keep it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", action="append", choices=ALL)
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--no-largest", action="store_true")
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    results = _results()
    again = asked.again or bool(asked.only)
    for name in asked.only or ALL:
        if again or name not in results["peaks"]:
            results = _with("peaks", name, row_of(name))
        wants_largest = name in LIMITS_MIB and not asked.no_largest
        if wants_largest and (again or name not in results["largest"]):
            results = _with("largest", name, largest_of(name))
    drawn = table(results)
    print(drawn)
    if asked.write:
        text = PAGE.read_text(encoding="utf-8")
        PAGE.write_text(PLACE.sub(lambda _: drawn, text), encoding="utf-8")


def _results() -> Row:
    """What was measured so far."""
    return json.loads(RESULTS.read_text()) if RESULTS.exists() else {"peaks": {}, "largest": {}}


def _with(part: str, name: str, row: Row) -> Row:
    """With one row more; read again before, as two of us may be at it."""
    results = _results()
    results[part][name] = row
    RESULTS.write_text(json.dumps(results, indent=1) + "\n")
    return results


if __name__ == "__main__":
    main()
