"""The names of all gauges, and the one sum that is judged: bytes in use."""

from collections.abc import Mapping
from typing import Final

RSS_ANON: Final = "rss_anon"
RSS_FILE: Final = "rss_file"
RSS_SHMEM: Final = "rss_shmem"
# The most resident memory so far, of every kind; read at a few moments of the run only.
RSS_PEAK: Final = "rss_peak"

HEAP_USED: Final = "heap_used"
HEAP_FREE: Final = "heap_free"
MMAP_USED: Final = "mmap_used"

PYTHON_BLOCKS: Final = "python_blocks"
# Those of them that our own looks at the program have left behind.
OWN_BLOCKS: Final = "own_blocks"

# Arrays that came back from isolated calls: shared memory that only this program uses.
RESULTS_MAPPED: Final = "results_mapped"

# TensorFlow's pool for host tensors, where there is one. It tells its peak, not its size,
# which is an estimate: see `probes/pool.py`.
POOL_IN_USE: Final = "pool_in_use"
POOL_SIZE: Final = "pool_size"


FUNCTIONS: Final = "functions"
GRADIENTS: Final = "gradients"
MODELS: Final = "models"
SESSIONS: Final = "sessions"
COUNTS: Final = (MODELS, SESSIONS, FUNCTIONS, GRADIENTS)

# CPython tells how many small blocks are in use, not their bytes. After a Keras `fit`,
# `sys._debugmallocstats()` gave 107,179,488 bytes in 1,123,937 blocks: 95.4 each.
BYTES_PER_PYTHON_BLOCK: Final = 96

HOST: Final = "host"


def device_gauge(device: str, what: str) -> str:
    """The gauge of one accelerator, e.g. `GPU:0 in use`; `what` is `in use` or `peak`."""
    return f"{device} {what}"


def places(gauges: Mapping[str, int]) -> tuple[str, ...]:
    """Where memory is judged: the host, then every device that has an allocator gauge."""
    devices = (name.removesuffix(" in use") for name in gauges if name.endswith(" in use"))
    return (HOST, *sorted(devices))


def in_use_bytes(gauges: Mapping[str, int], place: str = HOST) -> int | None:
    """Bytes that some object of the program still owns; None where this cannot be known."""
    if place != HOST:
        return gauges.get(device_gauge(place, "in use"))
    heap = gauges.get(HEAP_USED)
    if heap is None:
        return None
    taken = heap + gauges.get(MMAP_USED, 0) + gauges.get(RESULTS_MAPPED, 0)
    return taken + python_bytes(gauges) - pool_free_bytes(gauges)


def python_bytes(gauges: Mapping[str, int]) -> int:
    """CPython's small objects but for our own, estimated from the number of blocks."""
    blocks = gauges.get(PYTHON_BLOCKS, 0) - gauges.get(OWN_BLOCKS, 0)
    return max(0, blocks) * BYTES_PER_PYTHON_BLOCK


def pool_free_bytes(gauges: Mapping[str, int]) -> int:
    """What TensorFlow's host pool keeps for reuse. To malloc all of the pool is in use."""
    return max(0, gauges.get(POOL_SIZE, 0) - gauges.get(POOL_IN_USE, 0))


def rss_bytes(gauges: Mapping[str, int]) -> int:
    """Resident bytes of every kind, as `top` shows them."""
    return gauges.get(RSS_ANON, 0) + gauges.get(RSS_FILE, 0) + gauges.get(RSS_SHMEM, 0)
