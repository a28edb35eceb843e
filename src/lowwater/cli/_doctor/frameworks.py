"""How TensorFlow and Keras will behave: devices, memory growth, backend."""

import ctypes
import json
from collections.abc import Mapping
from pathlib import Path

from lowwater.cli._doctor.surroundings import Fact, Machine, Source
from lowwater.model import NotMeasured

# Setting -> what TensorFlow does when it is not set.
UNSET: Mapping[str, str] = {
    "TF_FORCE_GPU_ALLOW_GROWTH": "not set: the program decides; by default, TensorFlow takes "
    "nearly all memory of each GPU on first use",
    "TF_GPU_ALLOCATOR": "not set: TensorFlow's own pool (BFC)",
    "TF_USE_LEGACY_KERAS": "not set: tf.keras is Keras 3",
}

# With one of these TensorFlow turns oneDNN on by itself, and with it a pool for large tensors.
ONEDNN_BY_DEFAULT = ("avx512_vnni", "avx_vnni", "avx512_bf16", "avx512_fp16", "amx_tile")


def _keras_backend(around: Machine) -> Fact:
    """The backend that `import keras` will choose, and who says so."""
    chosen = around.environ.get("KERAS_BACKEND")
    if chosen:
        return f"{chosen} (KERAS_BACKEND)"
    folder = around.environ.get("KERAS_HOME")
    file = (Path(folder) if folder else around.home / ".keras") / "keras.json"
    try:
        chosen = json.loads(file.read_text(encoding="utf-8")).get("backend")
    except (OSError, ValueError, AttributeError):
        chosen = None
    return f"{chosen} ({file})" if chosen else "tensorflow (the default)"


def _gpus(around: Machine) -> Fact:
    """The device files that a GPU driver makes."""
    dev = around.root / "dev"
    files = sorted(path.name for path in [*dev.glob("nvidia[0-9]*"), *dev.glob("kfd")])
    return ", ".join(files) if files else NotMeasured("no GPU here")


def _nvml(_: Machine) -> Fact:
    try:
        ctypes.CDLL("libnvidia-ml.so.1")
    except OSError:
        return NotMeasured("NVML library not found")
    return "library found"


def _host_tensors(around: Machine) -> Fact:
    """Who allocates tensors on the CPU: malloc, or a pool that gives nothing back."""
    if around.environ.get("TF_CPU_ALLOCATOR_USE_BFC", "").lower() in ("1", "true"):
        return "TensorFlow's pool (TF_CPU_ALLOCATOR_USE_BFC)"
    if around.environ.get("TF_ENABLE_ONEDNN_OPTS", "").lower() in ("0", "false"):
        return "malloc (TF_ENABLE_ONEDNN_OPTS turns oneDNN off)"
    try:
        flags = (around.root / "proc/cpuinfo").read_text(encoding="utf-8").split()
    except OSError as error:
        return NotMeasured(f"/proc/cpuinfo: {error.strerror}")
    reason = next((flag for flag in ONEDNN_BY_DEFAULT if flag in flags), None)
    if reason is None:
        return "malloc, unless TF_ENABLE_ONEDNN_OPTS=1"
    return f"TensorFlow's pool for 256 KiB or more, malloc below: oneDNN is on ({reason})"


def _setting(name: str) -> Source:
    return lambda around: around.environ.get(name) or UNSET[name]


FRAMEWORKS: Mapping[str, Source] = {
    "gpus": _gpus,
    "nvml": _nvml,
    "backend": _keras_backend,
    "host tensors": _host_tensors,
    **{name: _setting(name) for name in UNSET},
}
