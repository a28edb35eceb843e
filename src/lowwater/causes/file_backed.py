"""LW403 file-backed."""

from lowwater.causes._cause import Cause, Claim
from lowwater.causes._ledger import risen_bytes
from lowwater.model import Evidence, Kind, RowName
from lowwater.model.units import format_bytes

# What a user would notice in `top`; libraries that load late stay below it.
_NOTICEABLE_BYTES = 16 << 20


class FileBacked(Cause):
    """Not a leak: pages of mapped files count as resident memory.

    `np.memmap`, Arrow and HDF5 map files into the address space.
    Every page that is read counts towards the resident memory that `top` shows.
    The kernel drops such pages when a process needs the memory, and reads them again
    from the file later. They never cause a program to run out of memory.

    Looks like a leak:

        table = np.memmap("table.bin", dtype="float32", mode="r", shape=(1_000_000, 64))
        for start in range(0, 1_000_000, 10_000):
            model.train_on_batch(table[start : start + 10_000], labels[start : start + 10_000])

    Stays flat:

        for start in range(0, 1_000_000, 10_000):
            table = np.memmap("table.bin", dtype="float32", mode="r", shape=(1_000_000, 64))
            model.train_on_batch(table[start : start + 10_000], labels[start : start + 10_000])
    """

    code = "LW403"
    name = "file-backed"
    fix = "Nothing to fix. If the number in `top` bothers you, reopen the map now and then."

    def in_verdict(self, evidence: Evidence) -> Claim | None:
        """Mapped files make up a rise that is no leak."""
        risen = risen_bytes(evidence, RowName.MAPPED_FILES)
        if evidence.verdict.kind is Kind.INCONCLUSIVE or risen < _NOTICEABLE_BYTES:
            return None
        much = format_bytes(risen)
        return Claim(f"{much} more pages of mapped files are resident; the kernel can drop them.")
