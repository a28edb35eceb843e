"""LW401 reserved-pool."""

from lowwater.causes._cause import Cause, Claim
from lowwater.causes._ledger import last_bytes
from lowwater.model import DeviceRow, Evidence, Kind, RowName
from lowwater.model.gauges import HOST
from lowwater.model.units import format_bytes

_POOL = "TensorFlow's pool"
_POOL_FIX = (
    "Nothing to fix. TensorFlow returns its pool only when the process ends: if other processes "
    "need the memory, run each training in its own process."
)


class ReservedPool(Cause):
    """Not a leak: an allocator keeps freed memory for reuse.

    Memory that a program frees goes back to an allocator: TensorFlow's pool, or malloc.
    Neither returns it to the system at once, because the next tensor will need it.
    So `top` and `nvidia-smi` show the highest level that the program ever needed.
    Inside the process this memory is free, and the next epoch reuses it.

    Looks like a leak:

        tensors = [tf.zeros((1024, 1024)) for _ in range(50)]
        del tensors
        print(psutil.Process().memory_info().rss)

    Stays flat:

        for _ in range(50):
            tensor = tf.zeros((1024, 1024))
    """

    code = "LW401"
    name = "reserved-pool"
    fix = "Nothing to fix. If other processes need the memory, call `psutil.heap_trim()`."
    explains = Kind.RESERVED

    def in_verdict(self, evidence: Evidence) -> Claim | None:
        """Free memory that an allocator holds, and how much of it."""
        if evidence.verdict.kind is not self.explains:
            return None
        place = evidence.verdict.place
        if place != HOST:
            kept = format_bytes(last_bytes(evidence, DeviceRow.POOL_FREE.at(place)))
            return Claim(
                f"About {kept} of {place} is free inside TensorFlow's pool, kept for the next "
                "tensors.",
                holder=_POOL,
                fix=_POOL_FIX,
            )
        pool, malloc = (
            last_bytes(evidence, RowName.POOL_FREE),
            last_bytes(evidence, RowName.MALLOC_FREE),
        )
        if max(pool, malloc) == 0:
            return Claim("The allocator keeps freed memory for reuse; nothing holds it.")
        who, fix = (_POOL, _POOL_FIX) if pool > malloc else ("malloc", None)
        message = (
            f"{format_bytes(max(pool, malloc))} is free inside {who}, kept for the next tensors."
        )
        return Claim(message, holder=who, fix=fix)
