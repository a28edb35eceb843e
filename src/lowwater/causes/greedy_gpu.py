"""LW405 greedy-gpu."""

from lowwater.causes._cause import Cause, Claim
from lowwater.causes._ledger import highest_bytes
from lowwater.model import DeviceRow, Evidence
from lowwater.model.devices import granted_bytes
from lowwater.model.policy import POLICY
from lowwater.model.units import format_bytes


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
    """

    code = "LW405"
    name = "greedy-gpu"
    fix = (
        "Call `tf.config.experimental.set_memory_growth(gpu, True)` before the first operation, "
        "or set `TF_FORCE_GPU_ALLOW_GROWTH=true`. For an unchanged script: "
        "`lowwater run --gpu-memory-growth`."
    )

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
