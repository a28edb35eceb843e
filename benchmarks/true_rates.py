"""What leaking specimens really keep in each round, measured without Lowwater.

    python -P benchmarks/true_rates.py --only sessions

Each program runs with twice its rounds; at each one garbage is collected and malloc and CPython
are asked. TensorFlow's own pool is off: what it takes ahead would be counted. The first lines of
the specimens state these rates with the word *about* where they do not follow from the source.
"""

import argparse
import ast
import gc
import os
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from replay.first_line import SPECIMENS, truth_of

TIMES = 2
SMALL_BYTES = re.compile(rb"# bytes in allocated blocks\s+=\s+([\d,]+)")


def main() -> None:
    """Run the specimens one after the other, each in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--only", default="", help="specimens whose names contain this text")
    parser.add_argument("--within", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.within:
        print(rate_of(Path(options.within)))
        return
    print("| specimen | stated | measured |\n|---|---|---|")
    for path in sorted(SPECIMENS.glob("*.py")):
        truth = truth_of(path)
        if truth.is_leak and truth.unit and options.only in path.stem:
            stated = f"{truth.rate_bytes:,}" if truth.rate_bytes else ""
            print(f"| {path.stem} | {stated} | {_measured(path)} |", flush=True)


def _measured(path: Path) -> str:
    command = [sys.executable, "-P", __file__, "--within", str(path)]
    env = {**os.environ, "TF_ENABLE_ONEDNN_OPTS": "0", "TF_CPP_MIN_LOG_LEVEL": "3"}
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    lines = done.stdout.splitlines()
    return f"{int(lines[-1]):,}" if done.returncode == 0 else f"failed: {done.stderr[-200:]!r}"


def rate_of(path: Path) -> int:
    """The bytes that each round keeps, after the first third: the median slope of all pairs."""
    marks: list[int] = []
    tree, truth = ast.parse(path.read_text(), str(path)), truth_of(path)
    if truth.unit == "iteration":
        _mark_loop(tree, int(truth.where.rpartition(":")[2]) if truth.where else None)
    else:
        _mark_epochs(path, lambda *_: marks.append(in_use_bytes()))
    names = {"__name__": "__main__", "__mark__": lambda: marks.append(in_use_bytes())}
    exec(compile(tree, str(path), "exec"), names)  # noqa: S102 - a program of ours
    steady = list(enumerate(marks))[len(marks) // 3 :]
    slopes = [(b - a) / (j - i) for i, a in steady for j, b in steady if j > i]
    return round(statistics.median(slopes))


def in_use_bytes() -> int:
    """What malloc has handed out, and CPython's small objects."""
    gc.collect()
    heap = psutil.heap_info()
    return int(heap.heap_used + heap.mmap_used) + _small_bytes()


def _small_bytes() -> int:
    """From the only place where CPython tells it: a text for stderr."""
    with tempfile.TemporaryFile() as file:
        stderr = os.dup(2)
        os.dup2(file.fileno(), 2)
        sys._debugmallocstats()  # noqa: SLF001 - there is no other
        os.dup2(stderr, 2)
        os.close(stderr)
        file.seek(0)
        found = SMALL_BYTES.search(file.read())
    return int(found[1].replace(b",", b"")) if found else 0


def _mark_loop(tree: ast.Module, line: int | None) -> None:
    """Mark the loop at that line, or the last of the program, and let it run longer."""
    loops = [node for node in ast.walk(tree) if isinstance(node, ast.For)]
    outer = [loop for loop in loops if loop.lineno == line] or [
        node for node in tree.body if isinstance(node, ast.For)
    ]
    loop = outer[-1]
    call = ast.copy_location(ast.parse("__mark__()").body[0], loop)
    loop.body.insert(0, ast.fix_missing_locations(call))
    match loop.iter:
        case ast.Call(func=ast.Name("range"), args=[ast.Constant(int(rounds))]):
            loop.iter.args = [ast.copy_location(ast.Constant(TIMES * rounds), loop.iter)]


def _mark_epochs(path: Path, mark: Callable[..., None]) -> None:
    if "tf_keras" in path.read_text():
        import tf_keras as keras
    else:
        import keras
    fit = keras.Model.fit

    def marked(model: Any, *args: Any, **options: Any) -> Any:  # noqa: ANN401 - as `fit` has it
        callbacks = [*options.pop("callbacks", ())]
        callbacks.append(keras.callbacks.LambdaCallback(on_epoch_begin=mark))
        epochs = TIMES * options.pop("epochs", 1)
        return fit(model, *args, **options, epochs=epochs, callbacks=callbacks)

    keras.Model.fit = marked


if __name__ == "__main__":
    main()
