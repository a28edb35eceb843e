"""Judging a timeline: is it a leak, and where is the memory."""

from lowwater.verdict.ledger import book
from lowwater.verdict.verdict import judge

__all__ = ["book", "judge"]
