"""What causes read off the ledger."""

from lowwater.model import Evidence, LedgerRow


def last_bytes(evidence: Evidence, name: str) -> int:
    """What the row held at the last boundary, the last that was judged; 0 where there is no row."""
    row = _row(evidence, name)
    return row.series[-1] if row else 0


def risen_bytes(evidence: Evidence, name: str) -> int:
    """How far the row rose after the first quarter of the run, in which programs still load."""
    row = _row(evidence, name)
    return row.series[-1] - row.series[len(row.series) // 4] if row else 0


def highest_bytes(evidence: Evidence, name: str) -> int | None:
    """The most that the row held; None where there is no row."""
    row = _row(evidence, name)
    return row.highest_bytes if row else None


def _row(evidence: Evidence, name: str) -> LedgerRow | None:
    return next((row for row in evidence.ledger.rows if row.name == name and row.series), None)
