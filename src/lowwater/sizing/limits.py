"""The memory that tensors may take: what the user says, or what this machine has free."""

from lowwater.model.amounts import positive
from lowwater.model.footprint import StepsFound, TensorLimit
from lowwater.model.measured import NotMeasured
from lowwater.model.units import format_bytes, parse_bytes
from lowwater.probes.headroom import headroom

EXAMPLE = 'limit="8 GiB"'


def given_limit(limit: str | float | None, name: str = "`limit`") -> int | None:
    """What the user wrote, in bytes; what is no size is refused."""
    example = EXAMPLE if name == "`limit`" else f'{name} "8 GiB"'
    found = positive(name, limit, parse_bytes, example)
    return None if found is None else max(1, round(found))


def limit_of(given_bytes: int | None, found: StepsFound) -> TensorLimit | NotMeasured:
    """The limit that was given, else that of the device, else what the machine has free."""
    if given_bytes is not None:
        return TensorLimit(given_bytes, "given", is_given=True)
    if found.device_bytes is not None:
        told = f"{found.place} has {format_bytes(found.device_bytes)} for tensors"
        return TensorLimit(found.device_bytes, told, is_given=False)
    room = headroom()
    if room is None:
        return NotMeasured("free memory cannot be read on this machine")
    beside = 0 if isinstance(found.beside_bytes, NotMeasured) else found.beside_bytes
    told = (
        f"{format_bytes(room)} is free, of which the process needs "
        f"{format_bytes(beside)} besides tensors"
    )
    return TensorLimit(max(0, room - beside), told, is_given=False)


def free_here() -> int | None:
    """What this machine itself could give to a step now."""
    return headroom()
