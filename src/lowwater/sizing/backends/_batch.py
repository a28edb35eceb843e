"""Batches of any size, made of the user's own samples."""

from typing import Any

import numpy as np

from lowwater.sizing.samples import leaves, mapped

# ruff: noqa: ANN401 - trees of arrays


def batch_of(parts: tuple[Any, ...], batch_size: int) -> tuple[Any, ...]:
    """The first samples, repeated where there are too few."""
    at = np.arange(batch_size) % len(next(leaves(parts)))
    return tuple(mapped(lambda leaf: leaf[at], part) for part in parts)


def bytes_of(tree: Any) -> int:
    """All arrays of a tree."""
    return sum(int(getattr(leaf, "nbytes", 0)) for leaf in leaves(tree))
