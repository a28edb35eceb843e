"""Rows of the ledger that causes look at, by the names that `verdict/ledger.py` gives them."""

from typing import Final

from lowwater.model import Evidence, LedgerRow

MAPPED_FILES: Final = "resident, mapped files"
MALLOC_FREE: Final = "malloc, free but kept"
POOL_FREE: Final = "TensorFlow pool, free for reuse"


def last_bytes(evidence: Evidence, name: str) -> int:
    """What the row held at the end; 0 where there is no such row, for nothing is claimed then."""
    row = _row(evidence, name)
    return row.last_bytes if row else 0


def risen_bytes(evidence: Evidence, name: str) -> int:
    """How far the row rose after the first quarter of the run, in which programs still load."""
    row = _row(evidence, name)
    return row.last_bytes - row.series[len(row.series) // 4] if row else 0


def _row(evidence: Evidence, name: str) -> LedgerRow | None:
    return next((row for row in evidence.ledger.rows if row.name == name and row.series), None)
