"""LW405 greedy-gpu."""

from typing import TYPE_CHECKING

from lowwater.causes._cause import Cause, Claim
from lowwater.causes._ledger import highest_bytes
from lowwater.model import DeviceRow, Evidence
from lowwater.model.devices import granted_bytes
from lowwater.model.policy import POLICY
from lowwater.model.units import format_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lowwater.check.source import Source
    from lowwater.model.source import SourceClaim

# What limits, or chooses, the GPU memory of a process.
_LIMITS = (
    "set_memory_growth", "ALLOW_GROWTH", "allow_growth", "set_visible_devices",
    "CUDA_VISIBLE_DEVICES", "device_configuration", "memory_fraction", "visible_device_list",
    "lowwater.isolated", "lowwater.map", "KERAS_BACKEND",
)  # fmt: skip


class GreedyGpu(Cause):
    """TensorFlow took the whole GPU at startup: memory growth is off.

    By default, TensorFlow takes nearly all memory of every visible GPU at once,
    and shares it among its tensors. `nvidia-smi` then shows a full device from the first
    second, even if the program needs little. Other processes cannot use the rest.

    Looks like a leak:

        import tensorflow as tf

        tf.zeros(1)

    Stays flat:

        import tensorflow as tf

        for gpu in tf.config.list_physical_devices("GPU"):
            tf.config.experimental.set_memory_growth(gpu, True)
        tf.zeros(1)

    Known problems:

        A limit that another file, or the shell, sets is not seen.

    Fix safety:

        There is no automatic fix: it must run before the first operation of each process.

    Applies to:

        TensorFlow 2.11 and later.
    """

    code = "LW405"
    name = "greedy-gpu"
    fix = (
        "Call `tf.config.experimental.set_memory_growth(gpu, True)` before the first operation, "
        "or set `TF_FORCE_GPU_ALLOW_GROWTH=true`. For an unchanged script: "
        "`lowwater run --gpu-memory-growth`."
    )
    words = ("Process(", "Pool(", "ProcessPoolExecutor(")
    is_preview = True
    words_beside = ("tensorflow", "keras")

    def in_verdict(self, evidence: Evidence) -> Claim | None:
        """Growth is off, as it is in force, and far less was ever in use than was taken."""
        for device in evidence.devices:
            used = highest_bytes(evidence, DeviceRow.IN_USE.at(device.place))
            if device.grows is not False or device.is_limited or used is None:
                continue
            counted = highest_bytes(evidence, DeviceRow.OURS.at(device.place))
            taken = granted_bytes(device.limit_bytes or 0, counted)
            if taken - used >= max(POLICY.reserved_bytes, POLICY.reserved_share * taken):
                return Claim(
                    f"{device.framework} took about {format_bytes(taken)} of {device.place} at its "
                    f"first operation; the program used {format_bytes(used)} of it at most."
                )
        return None

    def find_in_source(self, source: "Source") -> "Iterator[SourceClaim]":
        """Several processes use TensorFlow, and none limits what it takes of the GPU."""
        if any(one in source.file.text for one in _LIMITS):
            return
        for call in source.calls_of("Process", "Pool", "ProcessPoolExecutor"):
            if source.starts_processes(call) and any(
                source.uses_library(one, "tensorflow", "keras") for one in source.workers_of(call)
            ):
                yield source.claim(
                    call,
                    "Several processes use TensorFlow, and each takes all GPU memory it can get.",
                    label="the first process takes nearly all; the others run out of memory",
                )
