"""LW402 heap-fragmentation."""

from lowwater.causes._cause import Cause, Claim
from lowwater.causes._ledger import last_bytes
from lowwater.model import Evidence, Kind, RowName
from lowwater.model.units import format_bytes


class HeapFragmentation(Cause):
    """Freed memory stays in malloc's heap, in holes between small objects still in use.

    malloc can return only the top of its heap to the system.
    One small object above a hundred freed megabytes keeps them in the process.
    The bytes in use are level, but the process looks larger with every epoch.
    It happens when a program mixes large and small, short-lived and long-lived objects, or
    uses many threads, each with its own heap.

    Looks like a leak:

        kept = []
        for epoch in range(100):
            batches = [np.random.rand(1000) for _ in range(10_000)]
            kept.append(batches[-1][:8].copy())

    Stays flat:

        kept = []
        for epoch in range(100):
            batches = [np.random.rand(1000) for _ in range(10_000)]
            kept.append(batches[-1][:8].copy())
            del batches
            psutil.heap_trim()
    """

    code = "LW402"
    name = "heap-fragmentation"
    fix = (
        "Call `psutil.heap_trim()` once per epoch; or set `MALLOC_ARENA_MAX=1`, "
        "or run with jemalloc."
    )
    explains = Kind.FRAGMENTED

    def in_verdict(self, evidence: Evidence) -> Claim | None:
        """Free memory that malloc cannot give back."""
        if evidence.verdict.kind is not self.explains:
            return None
        free = last_bytes(evidence, RowName.MALLOC_FREE)
        much = f"{format_bytes(free)} of freed memory" if free else "Freed memory"
        return Claim(f"{much} is stuck in malloc's heap, between objects that are still in use.")
