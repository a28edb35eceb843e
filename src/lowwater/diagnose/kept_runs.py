"""Where the recordings of experiments are kept, so that a second diagnosis can go on."""

import errno
import fcntl
import hashlib
import itertools
import os
import shutil
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import astuple
from importlib.metadata import version
from pathlib import Path
from typing import Final

from lowwater.diagnose.cuts import Cuts
from lowwater.diagnose.files_beside import files_in
from lowwater.diagnose.private_files import close_to_others, private_folder
from lowwater.errors import UsageError

_MOST_FILES: Final = 500
_KEPT_S: Final = 30 * 24 * 3600
# For a dozen recordings, and what the program prints.
_LEAST_ROOM: Final = 64 << 20
# Variables by which a program, its framework or its allocator behaves in another way.
_TELLING = (
    *("KERAS_", "TF_", "JAX_", "XLA_", "CUDA_", "MALLOC_", "PYTHON", "OMP_", "GLIBC_TUNABLES"),
    *("LD_PRELOAD", "PYTORCH_"),
)


@contextmanager
def kept_runs(
    script: str, arguments: Sequence[str], cuts: Cuts, *, fresh: bool = False
) -> Iterator[str]:
    """The folder of the recordings: the same for the same program in the same surroundings."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    everything = os.path.join(cache, "lowwater", "diagnose")
    folder = os.path.join(everything, _digest(script, arguments, cuts))
    try:
        for one in (os.path.dirname(everything), everything, folder):
            private_folder(one)
        close_to_others(everything)
        _check_room(folder)
        lock = os.open(folder, os.O_RDONLY)
        os.utime(folder)
    except OSError:
        # No home that can be written to, or a full one: then nothing is kept for next time.
        with tempfile.TemporaryDirectory(prefix="lowwater-") as instead:
            yield instead
        return
    try:
        _take(lock, script)
        if fresh:
            _empty(folder)
        _forget_old(everything)
        yield folder
    finally:
        close_to_others(folder)
        os.close(lock)


def _check_room(folder: str) -> None:
    """A program whose output does not find room fails by itself, and not by a change."""
    if shutil.disk_usage(folder).free < _LEAST_ROOM:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), folder)


def _take(lock: int, script: str) -> None:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        msg = "another process is already diagnosing this program"
        raise UsageError(msg, received=script, advice="wait until it ends") from None


def _digest(script: str, arguments: Sequence[str], cuts: Cuts) -> str:
    digest = hashlib.sha256()
    surroundings = (name for name in sorted(os.environ) if name.startswith(_TELLING))
    parts = [
        *(os.getcwd(), sys.executable, version("lowwater"), script, *arguments),
        *map(str, astuple(cuts)),
        *(f"{name}={os.environ[name]}" for name in surroundings),
        # Changes when a package is installed, removed or replaced.
        _stamp(sysconfig.get_path("purelib")),
    ]
    for file in itertools.islice(_sources(script), _MOST_FILES):
        parts += [str(file), _stamp(file)]
    for part in parts:
        digest.update(part.encode(errors="surrogateescape") + b"\0")
    return digest.hexdigest()[:16]


def _sources(script: str) -> Iterator[Path]:
    """The program's files, as far as they lie beside the script."""
    if os.path.exists(script):
        yield Path(script).resolve()
    folder = Path(script).resolve().parent if os.path.exists(script) else Path.cwd()
    seen = itertools.islice(files_in(str(folder)), 100 * _MOST_FILES)
    yield from (file for file in seen if file.suffix == ".py")


def _stamp(file: str | Path) -> str:
    try:
        status = os.stat(file)
    except OSError:
        return ""
    return f"{status.st_mtime_ns} {status.st_size}"


def _empty(folder: str) -> None:
    for file in Path(folder).iterdir():
        with suppress(OSError):
            file.unlink()


def _forget_old(everything: str) -> None:
    """What nobody has asked for in a month."""
    for folder in Path(everything).iterdir():
        with suppress(OSError):
            if time.time() - folder.stat().st_mtime > _KEPT_S:
                shutil.rmtree(folder)
