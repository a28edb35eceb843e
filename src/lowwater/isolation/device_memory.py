"""Keeps a framework from taking the whole of a GPU, before its first operation there.

A limit where one is given, else memory growth: what is not used stays free for others.
Written after the interfaces of the frameworks; no GPU was there to try it on.
"""

from typing import Any

_MIB = 1 << 20


def limit_tensorflow(tensorflow: Any, limit_bytes: int | None) -> None:  # noqa: ANN401
    """For every GPU that the process may see."""
    config = tensorflow.config
    for device in config.list_physical_devices("GPU"):
        if limit_bytes is None:
            config.experimental.set_memory_growth(device, enable=True)
        else:
            one = config.LogicalDeviceConfiguration(memory_limit=max(1, limit_bytes // _MIB))
            config.set_logical_device_configuration(device, [one])


def limit_torch(torch: Any, limit_bytes: int | None) -> None:  # noqa: ANN401
    """Torch takes memory as it needs it: there is something to do only where a limit is given."""
    if limit_bytes is None or not torch.cuda.is_available():
        return
    for device in range(torch.cuda.device_count()):
        whole = torch.cuda.get_device_properties(device).total_memory
        torch.cuda.set_per_process_memory_fraction(min(1.0, limit_bytes / whole), device)
