"""`--gpu-memory-growth` and `--gpu-memory`: what frameworks may take of the GPUs."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from lowwater.model.device_settings import DeviceSettings

_Command = TypeVar("_Command", bound=Callable[..., Any])


def gpu_options(command: _Command) -> _Command:
    """Add both options to a command."""
    growth = click.option(
        "--gpu-memory-growth",
        is_flag=True,
        help="Let frameworks take GPU memory as they need it, not all at once.",
    )
    memory = click.option(
        "--gpu-memory",
        metavar="SIZE",
        help='Limit what frameworks take of each GPU, e.g. "4 GiB".',
    )
    return growth(memory(command))


def wanted_of_devices(*, growth: bool, memory: str | None) -> DeviceSettings | None:
    """What the user typed; None where that is nothing."""
    wanted = DeviceSettings.of(growth or None, memory, "--gpu-memory", '--gpu-memory "4 GiB"')
    if wanted.limit_bytes is None:
        return wanted if growth else None
    # Asked here, beside the program: the driver's library keeps files open.
    from lowwater.probes.nvml import with_sizes

    return with_sizes(wanted)
