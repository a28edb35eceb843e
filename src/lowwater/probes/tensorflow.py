"""TensorFlow's pools and registries, read only once TensorFlow has started itself."""

import sys
from typing import Any

from lowwater.model import NotMeasured, Reading
from lowwater.model.gauges import (
    FUNCTIONS,
    GRADIENTS,
    HEAP_FREE,
    HEAP_USED,
    MMAP_USED,
    POOL_IN_USE,
    POOL_SIZE,
    RSS_ANON,
    device_gauge,
)
from lowwater.model.interruption import let_through
from lowwater.model.protocols import Probe
from lowwater.probes.glibc import GlibcProbe
from lowwater.probes.pool import PoolSize, Untouched
from lowwater.probes.pool_limit import host_pool_limit
from lowwater.probes.regions import PoolRegions

_CONTEXT = "tensorflow.python.eager.context"
_OPS = "tensorflow.python.framework.ops"
_GRAPH_MODE = 0


class TensorFlowProbe:
    """Never imports and never initialises: doing either would change the program."""

    name = "tensorflow"

    def __init__(self, malloc: Probe, host: Probe | None = None) -> None:
        """Ask `malloc` and `host` for what TensorFlow does not tell: how much its pool has."""
        self._malloc = malloc
        self._host = host
        # Other mallocs have other headers.
        self._pool_size = PoolSize(PoolRegions() if isinstance(malloc, GlibcProbe) else None)
        self._untouched = Untouched()
        self._silent_devices: set[str] = set()

    @property
    def looking_s(self) -> float:
        """What a few rare looks have cost: too much for a sample, too little for the run."""
        return self._pool_size.looking_s

    def read(self) -> Reading | NotMeasured:
        """Allocator statistics per device, registered functions, gradient registry entries."""
        context = getattr(sys.modules.get(_CONTEXT), "_context", None)
        if context is None:
            return NotMeasured("the program has not used TensorFlow")
        if not getattr(context, "_initialized", False):
            return self._of_graph_mode() or NotMeasured(
                "TensorFlow was imported but has not run an operation"
            )
        gauges = {FUNCTIONS: len(context.list_function_names())}
        gauges |= self._gradients()
        for device in getattr(context, "_logical_devices", None) or ():
            gauges |= self._pool(context, device.name.removeprefix("/device:"))
        return Reading(gauges)

    def _of_graph_mode(self) -> Reading | None:
        """What can be known of the pool of a v1 program: the part that is not resident yet."""
        mode = getattr(sys.modules.get(_CONTEXT), "default_execution_mode", None)
        host = self._host.read() if self._host is not None else None
        malloc = self._malloc.read()
        if mode != _GRAPH_MODE or not isinstance(host, Reading) or not isinstance(malloc, Reading):
            return None
        handed_out = sum(malloc.gauges[name] for name in (HEAP_USED, HEAP_FREE, MMAP_USED))
        free = self._untouched.add(handed_out, host.gauges[RSS_ANON])
        return Reading({POOL_SIZE: free, POOL_IN_USE: 0})

    def _gradients(self) -> dict[str, int]:
        registry = getattr(sys.modules.get(_OPS), "gradient_registry", None)
        entries = getattr(registry, "_registry", None)
        return {} if entries is None else {GRADIENTS: len(entries)}

    def _pool(self, context: Any, device: str) -> dict[str, int]:  # noqa: ANN401 - TensorFlow's
        if device in self._silent_devices:
            return {}
        try:
            info = context.get_memory_info(device)
        except Exception as error:  # noqa: BLE001 - a device without statistics raises anything
            let_through(error)
            self._silent_devices.add(device)
            return {}
        if device.startswith("CPU"):
            return self._host_pool(info)
        return {
            device_gauge(device, "in use"): info["current"],
            device_gauge(device, "peak"): info["peak"],
        }

    def _host_pool(self, info: dict[str, int]) -> dict[str, int]:
        """A CPU device has statistics only where its allocator is a pool."""
        malloc = self._malloc.read()
        if isinstance(malloc, NotMeasured):
            return {}
        heap, mapped = malloc.gauges[HEAP_USED], malloc.gauges[MMAP_USED]
        size = self._pool_size.add(heap, mapped, info["peak"], host_pool_limit())
        return {POOL_IN_USE: info["current"], POOL_SIZE: size}
