"""What TensorFlow's cache of prepared kernels holds: nothing tells, so it is emptied at the end."""

import sys
from typing import Any

from lowwater.model import Reading
from lowwater.model.gauges import HEAP_USED, KERNEL_CACHE, MMAP_USED
from lowwater.model.protocols import Probe
from lowwater.probes.glibc import GlibcProbe

_CONTEXT = "tensorflow.python.eager.context"


def emptied_kernel_cache(malloc: Probe | None = None) -> dict[str, int]:
    """Empty the cache, and say what came back; nothing where TensorFlow has run nothing eagerly.

    Only for a program that is over. Kernels of random operations hold the state of their
    generator: in the midst of a program, the same numbers would be drawn again.
    """
    context: Any = getattr(sys.modules.get(_CONTEXT), "_context", None)
    if context is None or not getattr(context, "_initialized", False):
        return {}
    probe = malloc or GlibcProbe()
    before = _handed_out(probe)
    if before is None:
        return {}
    context.clear_kernel_cache()
    after = _handed_out(probe)
    return {} if after is None else {KERNEL_CACHE: max(0, before - after)}


def _handed_out(probe: Probe) -> int | None:
    reading = probe.read()
    if not isinstance(reading, Reading):
        return None
    return reading.gauges[HEAP_USED] + reading.gauges[MMAP_USED]
