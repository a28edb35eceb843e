"""Judging a timeline: is it a leak, and where is the memory.

Both load NumPy, which who only wants the words of a verdict can do without.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lowwater.verdict.ledger import book
    from lowwater.verdict.verdict import judge

__all__ = ["book", "judge"]


def __getattr__(name: str) -> Any:  # noqa: ANN401 - either of two functions
    if name == "book":
        from lowwater.verdict.ledger import book

        return book
    if name == "judge":
        from lowwater.verdict.verdict import judge

        return judge
    msg = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(msg)
