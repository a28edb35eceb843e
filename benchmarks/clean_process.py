"""Runs `programs/give_back_loop.py` in a process of its own, and gives back what it has read."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

LOOP = Path(__file__).resolve().parent / "programs" / "give_back_loop.py"


def readings(
    cell: tuple[str, str, str], *, rounds: int, warm_up: int, limit_s: int
) -> dict[str, Any]:
    """The levels before, at each round and after; or the reason why there are none.

    A cell is a program, a backend of Keras and an advice.
    """
    program, backend, advice = cell
    if find_spec(backend) is None:
        return {"not_measured": f"{backend} is not installed"}
    command = [sys.executable, "-P", str(LOOP), program, advice]
    command += ["--rounds", str(rounds), "--warm-up", str(warm_up)]
    started = time.monotonic()
    try:
        done = subprocess.run(
            command,
            env=_environment(backend),
            capture_output=True,
            text=True,
            timeout=limit_s,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return {"not_measured": f"not finished after {limit_s} s"}
    print(f"{program} {backend} {advice}: {time.monotonic() - started:.0f} s", file=sys.stderr)
    told = done.stdout.rpartition("LEVELS=")[2]
    if done.returncode or not told:
        why = (done.stderr.strip().splitlines() or ["it printed nothing"])[-1]
        return {"not_measured": why[:200]}
    found: dict[str, Any] = json.loads(told)
    return found


def _environment(backend: str) -> Mapping[str, str]:
    # With oneDNN, large tensors come from a pool whose size can only be estimated. And malloc
    # counts as in use what it has got back and caches for each thread: 0.06 MB in a loop of fits.
    exact = {"TF_ENABLE_ONEDNN_OPTS": "0", "GLIBC_TUNABLES": "glibc.malloc.tcache_count=0"}
    quiet = {"TF_CPP_MIN_LOG_LEVEL": "3", "KERAS_BACKEND": backend}
    return os.environ | exact | quiet | {"CUDA_VISIBLE_DEVICES": "", "JAX_PLATFORMS": "cpu"}
