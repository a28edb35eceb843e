"""What a Keras computes with, and on how many GPUs."""

import sys
from collections.abc import Callable
from typing import Any

# ruff: noqa: ANN401 - libraries of the program


def backend_of(keras: Any) -> str:
    """What a Keras computes with; the legacy one knows TensorFlow only."""
    return "tensorflow" if keras.__name__ == "tf_keras" else str(keras.backend.backend())


def gpus_of(backend: str) -> int:
    """As the framework counts them that computes; it is there, and has looked itself."""
    framework: Any = sys.modules.get(backend or "tensorflow")
    try:
        return _COUNT_GPUS[framework.__name__](framework) if framework else 0
    except Exception:  # noqa: BLE001 - it is only asked for a table
        return 0


_COUNT_GPUS: dict[str, Callable[[Any], int]] = {
    "tensorflow": lambda tf: len(tf.config.list_physical_devices("GPU")),
    "jax": lambda jax: sum(device.platform == "gpu" for device in jax.devices()),
    "torch": lambda torch: int(torch.cuda.device_count()),
}
