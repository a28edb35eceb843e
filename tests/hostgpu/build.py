"""Builds the C files of this folder with the machine's compiler, or with the one in a wheel."""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

HERE = Path(__file__).parent
# The wheel `ziglang` is a C compiler that pip installs.
ZIG = (sys.executable, "-m", "ziglang", "cc")
BOOK = ("book.c", "process.c")
PARTS = ("memory", "streams", "copies", "fill")
PLUGIN = ("plugin.c", *(f"plugin_{part}.c" for part in PARTS), *BOOK)
NVML = ("nvml.c", "nvml_faults.c", *BOOK)
HOLD = ("hold.c", *BOOK)
FLAGS = ("-std=gnu11", "-O2", "-Wall", "-Wextra", "-Wno-unused-parameter", "-fPIC", "-pthread")


@dataclass(frozen=True)
class Built:
    """What a build leaves in its folder."""

    folder: Path

    @property
    def plugin(self) -> Path:
        """TensorFlow's device."""
        return self.folder / "libhostgpu.so"

    @property
    def nvml(self) -> Path:
        """The driver's library, under the name by which `nvidia-ml-py` loads it."""
        return self.folder / "libnvidia-ml.so.1"

    @property
    def hold(self) -> Path:
        """A program that takes bytes of a device and keeps them."""
        return self.folder / "hold"


def compiler_at_hand() -> tuple[str, ...]:
    found = shutil.which("cc")
    return (found,) if found else ZIG


def build(cache: Path, compiler: Sequence[str] = ()) -> Built:
    """What the C files give with this compiler; built once for each state of them."""
    compiler = tuple(compiler) or compiler_at_hand()
    tensorflow = _tensorflow_folder()
    folder = cache / _fingerprint(compiler, tensorflow)
    if not folder.exists():
        with tempfile.TemporaryDirectory(dir=cache) as fresh:
            built = Built(Path(fresh) / "built")
            built.folder.mkdir()
            _compile_all(built, compiler, tensorflow, cache)
            _move(built.folder, folder)
    return Built(folder)


def _compile_all(
    built: Built, compiler: tuple[str, ...], tensorflow: Path, zig_cache: Path
) -> None:
    framework = tensorflow / "libtensorflow_framework.so.2"
    environment = {
        **os.environ,
        "ZIG_GLOBAL_CACHE_DIR": str(zig_cache / "zig"),
        "ZIG_LOCAL_CACHE_DIR": str(zig_cache / "zig"),
    }
    for target, sources, options in (
        (
            built.plugin,
            PLUGIN,
            ("-shared", "-isystem", f"{tensorflow}/include", f"{framework}"),
        ),
        (built.nvml, NVML, ("-shared", f"-Wl,-soname,{built.nvml.name}")),
        (built.hold, HOLD, ()),
    ):
        paths = [str(HERE / source) for source in sources]
        command = [*compiler, *FLAGS, *paths, *options, "-o", str(target)]
        _run(command, environment)


def _run(command: list[str], environment: dict[str, str]) -> None:
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}\nended with {done.returncode}:\n{done.stderr}")


def _move(fresh: Path, folder: Path) -> None:
    try:
        fresh.rename(folder)
    except OSError:
        # Another worker was faster; what it built is the same.
        if not folder.exists():
            raise


def _fingerprint(compiler: tuple[str, ...], tensorflow: Path) -> str:
    digest = hashlib.sha256(repr((compiler, FLAGS, str(tensorflow))).encode())
    for path in sorted((*HERE.glob("*.[ch]"), Path(__file__))):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _tensorflow_folder() -> Path:
    """Where TensorFlow is, without importing it: the headers of the device are inside."""
    found = find_spec("tensorflow")
    if found is None or not found.submodule_search_locations:
        raise RuntimeError("TensorFlow is not installed. Try: make devices")
    return Path(found.submodule_search_locations[0])
