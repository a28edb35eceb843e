"""LW405 greedy-gpu."""

from lowwater.causes._cause import Cause, Claim
from lowwater.model import Evidence

# What the environment of a recording says of TensorFlow's setting, where there is a GPU.
GPU_GROWTH = "gpu_memory_growth"


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
        "or set `TF_FORCE_GPU_ALLOW_GROWTH=true`."
    )

    def in_verdict(self, evidence: Evidence) -> Claim | None:
        """The run has a GPU, and the setting is known to be off."""
        if evidence.environment.get(GPU_GROWTH) != "off":
            return None
        message = "TensorFlow reserved the whole GPU at startup, even if the program needs little."
        return Claim(message)
