"""How TensorFlow and Keras will behave: devices, memory growth, backend."""

import json
from collections.abc import Mapping
from pathlib import Path

from lowwater.cli._doctor.surroundings import Fact, Machine, Source
from lowwater.model import NotMeasured
from lowwater.model.gpus import Gpu
from lowwater.model.units import format_bytes

# Setting -> what the framework does when it is not set.
UNSET: Mapping[str, str] = {
    "TF_FORCE_GPU_ALLOW_GROWTH": "not set: the program decides; by default, TensorFlow takes "
    "nearly all memory of each GPU on first use",
    "TF_GPU_ALLOCATOR": "not set: TensorFlow's own pool (BFC)",
    "CUDA_VISIBLE_DEVICES": "not set: programs see all GPUs",
    "XLA_PYTHON_CLIENT_PREALLOCATE": "not set: JAX takes most of each GPU on first use",
    "XLA_PYTHON_CLIENT_MEM_FRACTION": "not set: JAX decides how much of each GPU it takes",
    "XLA_PYTHON_CLIENT_ALLOCATOR": "not set: JAX's own pool",
    "PYTORCH_CUDA_ALLOC_CONF": "not set: torch's own pool with its defaults",
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
    return ", ".join(files) if files else NotMeasured("no device file of a GPU here")


def _nvml(around: Machine) -> Fact:
    """The driver and its GPUs, or why it does not answer."""
    driver = around.driver()
    if isinstance(driver, NotMeasured):
        return driver
    try:
        version, gpus = driver.version(), driver.gpus()
    finally:
        driver.close()
    told = version.why if isinstance(version, NotMeasured) else f"driver {version}"
    if isinstance(gpus, NotMeasured):
        return gpus if gpus == version else f"{told}; {gpus.why}"
    return "; ".join([told, *(_gpu(number, gpu) for number, gpu in enumerate(gpus))])


def _gpu(number: int, gpu: Gpu | NotMeasured) -> str:
    if isinstance(gpu, NotMeasured):
        return f"GPU {number}: {gpu.why}"
    used, total = format_bytes(gpu.used_bytes), format_bytes(gpu.total_bytes)
    return f"GPU {number}: {gpu.name}, {used} of {total} in use"


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
    # Empty is a setting, too: it hides all GPUs.
    if name == "CUDA_VISIBLE_DEVICES":
        return _visible
    return lambda around: around.environ.get(name) or UNSET[name]


def _visible(around: Machine) -> Fact:
    value = around.environ.get("CUDA_VISIBLE_DEVICES")
    if value is None:
        return UNSET["CUDA_VISIBLE_DEVICES"]
    return value or "empty: programs see no GPU"


ABOUT_FRAMEWORKS: Mapping[str, Source] = {
    "gpus": _gpus,
    "nvml": _nvml,
    "backend": _keras_backend,
    "host tensors": _host_tensors,
    **{name: _setting(name) for name in UNSET},
}
