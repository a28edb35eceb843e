"""The names of all gauges, and the one sum that is judged: bytes in use."""

from collections.abc import Mapping
from typing import Final, NamedTuple

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
# Bytes of malloc that they have left behind.
OWN_BYTES: Final = "own_bytes"

# Arrays that came back from isolated calls: shared memory that only this program uses.
RESULTS_MAPPED: Final = "results_mapped"

# TensorFlow's pool for host tensors, where there is one. It tells its peak, not its size,
# which is an estimate: see `probes/pool.py`.
POOL_IN_USE: Final = "pool_in_use"
POOL_SIZE: Final = "pool_size"

# What TensorFlow's cache of prepared kernels held when the program was over.
KERNEL_CACHE: Final = "kernel_cache"

FUNCTIONS: Final = "functions"
GRADIENTS: Final = "gradients"
MODELS: Final = "models"
SESSIONS: Final = "sessions"
COUNTS: Final = (MODELS, SESSIONS, FUNCTIONS, GRADIENTS)

# CPython tells how many small blocks are in use, not their bytes. After a Keras `fit`,
# `sys._debugmallocstats()` gave 107,179,488 bytes in 1,123,937 blocks: 95.4 each.
BYTES_PER_PYTHON_BLOCK: Final = 96

HOST: Final = "host"

# What is told of an accelerator: by its framework, …
IN_USE: Final = "in use"
PEAK: Final = "peak"
POOL: Final = "pool"
# … and by the driver: what this program takes, what all others take, and what there is.
DRIVER_OURS: Final = "driver, ours"
DRIVER_OTHERS: Final = "driver, others"
DRIVER_TOTAL: Final = "driver, total"


def device_gauge(device: str, what: str) -> str:
    """The gauge of one accelerator, e.g. `GPU:0 in use`."""
    return f"{device} {what}"


def places(gauges: Mapping[str, int]) -> tuple[str, ...]:
    """Where memory is judged: the host, then every device that has an allocator gauge."""
    devices = (name.removesuffix(" in use") for name in gauges if name.endswith(" in use"))
    return (HOST, *sorted(devices))


def in_use_bytes(gauges: Mapping[str, int], place: str = HOST) -> int | None:
    """Bytes that some object of the program still owns; None where this cannot be known."""
    if place != HOST:
        return gauges.get(device_gauge(place, "in use"))
    if HEAP_USED not in gauges:
        return None
    taken = malloc_bytes(gauges) + gauges.get(RESULTS_MAPPED, 0) - gauges.get(OWN_BYTES, 0)
    return taken + python_bytes(gauges)


class Level(NamedTuple):
    """Bytes in use on the host, and on all accelerators together."""

    host_bytes: int
    device_bytes: int = 0

    @property
    def everywhere_bytes(self) -> int:
        """What a leak on any of them makes rise."""
        return self.host_bytes + self.device_bytes


def level_of(gauges: Mapping[str, int]) -> Level | None:
    """Both at one moment; None where the host's cannot be known."""
    host_bytes = in_use_bytes(gauges)
    return None if host_bytes is None else Level(host_bytes, device_bytes(gauges))


def device_bytes(gauges: Mapping[str, int]) -> int:
    """In use on all accelerators together."""
    return sum(gauges[device_gauge(place, IN_USE)] for place in places(gauges) if place != HOST)


def malloc_bytes(gauges: Mapping[str, int]) -> int:
    """What malloc has handed out, but for what TensorFlow's host pool keeps for reuse."""
    taken = gauges.get(HEAP_USED, 0) + gauges.get(MMAP_USED, 0)
    return taken - pool_free_bytes(gauges)


def python_bytes(gauges: Mapping[str, int]) -> int:
    """CPython's small objects but for our own, estimated from the number of blocks."""
    blocks = gauges.get(PYTHON_BLOCKS, 0) - gauges.get(OWN_BLOCKS, 0)
    return max(0, blocks) * BYTES_PER_PYTHON_BLOCK


def pool_free_bytes(gauges: Mapping[str, int]) -> int:
    """What TensorFlow's host pool keeps for reuse. To malloc all of the pool is in use."""
    in_use = gauges.get(POOL_IN_USE, 0)
    free = gauges.get(POOL_SIZE, 0) - in_use
    if HEAP_USED in gauges:
        # The pool is a part of what malloc has handed out, however its size is estimated.
        free = min(free, gauges[HEAP_USED] + gauges.get(MMAP_USED, 0) - in_use)
    return max(0, free)


class ResidentParts(NamedTuple):
    """What anonymous resident memory consists of, in bytes: all but `absent` add up to it.

    `absent` is what allocators have handed out, or keep, though it is not resident.
    """

    python: int
    malloc_in_use: int
    malloc_free: int
    pool_free: int
    rest: int
    absent: int


def resident_parts(gauges: Mapping[str, int]) -> ResidentParts | None:
    """Who holds the anonymous resident memory; None where this cannot be known.

    Memory is virtual until it is touched, so allocators may count more than there is. What is in
    use has most likely been touched, what is free in malloc as well, unless it was trimmed. The
    pool's free memory comes last: of a region that was just made nothing is resident.
    """
    if RSS_ANON not in gauges or HEAP_USED not in gauges:
        return None
    pool_free = pool_free_bytes(gauges)
    taken = gauges[HEAP_USED] + gauges.get(MMAP_USED, 0) - pool_free
    claims = (python_bytes(gauges), taken, gauges.get(HEAP_FREE, 0), pool_free)
    room, parts = max(0, gauges[RSS_ANON]), []
    for claim in claims:
        parts.append(min(max(0, claim), room))
        room -= parts[-1]
    python, in_use, free, pool = parts
    return ResidentParts(python, in_use, free, pool, room, max(0, sum(claims) - sum(parts)))


def kept_bytes(gauges: Mapping[str, int]) -> int:
    """Resident bytes that allocators keep though they are free, at the most."""
    parts = resident_parts(gauges)
    return pool_free_bytes(gauges) if parts is None else parts.malloc_free + parts.pool_free


def rss_bytes(gauges: Mapping[str, int]) -> int:
    """Resident bytes of every kind, as `top` shows them."""
    return gauges.get(RSS_ANON, 0) + gauges.get(RSS_FILE, 0) + gauges.get(RSS_SHMEM, 0)
