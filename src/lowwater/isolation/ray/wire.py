"""What passes between the caller and a node: packed calls and packed results.

Large parts are NumPy arrays of bytes, which Ray puts into its object store as they are; they are
not pickled a second time.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from lowwater.errors import LowwaterError
from lowwater.isolation.limits import Limits
from lowwater.isolation.parcel import Parcel, copied
from lowwater.isolation.surroundings import Surroundings


@dataclass(frozen=True, slots=True)
class Errand:
    """A call on its way to a node."""

    number: int
    call: list[Any]
    limits: Limits
    surroundings: Surroundings
    preload: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Reply:
    """What became of it: a packed result, or the error that there is none, or neither."""

    kind: str = ""
    parts: list[Any] = field(default_factory=list)
    error: LowwaterError | None = None
    story: dict[str, Any] = field(default_factory=dict)
    started: str = ""
    elapsed_s: float = 0.0


def to_arrays(parcel: Parcel) -> list[Any]:
    """The pickle first, then each large array; nothing is copied yet."""
    import numpy as np

    return [np.frombuffer(part, dtype="uint8") for part in (parcel.pickled, *parcel.buffers)]


def from_arrays(parts: Sequence[Any], *, writable: bool = False) -> Parcel:
    """The parcel again. The object store may be read only: `writable` copies the arrays out."""
    pickled, *buffers = parts
    views = [copied(one) if writable else memoryview(one) for one in buffers]
    return Parcel(memoryview(pickled), tuple(views))
