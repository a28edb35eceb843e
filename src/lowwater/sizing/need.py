"""Whether the batch that the user needs fits, as far as the search for the largest has shown."""

from lowwater.model.measured import NotMeasured
from lowwater.model.units import format_bytes
from lowwater.sizing.answer import BatchNeed
from lowwater.sizing.found import Footprint
from lowwater.sizing.largest import LargestBatch

# Times the largest batch that surely fits. Where one of these surely does not, no larger one does:
# far away, the interval is too wide to say so.
_LARGER = (1, 2, 4, 8)


def need_of(wanted: int, largest: LargestBatch | NotMeasured, footprint: Footprint) -> BatchNeed:
    """True or false where it is known, with the reason."""
    if isinstance(largest, NotMeasured):
        return BatchNeed(wanted, None, largest.why)
    limit = format_bytes(largest.limit_bytes)
    if wanted <= largest:
        return BatchNeed(wanted, fits=True, because=f"a batch of {wanted} fits {limit}")
    if largest.is_confirmed or _is_too_large(wanted, largest, footprint):
        told = f"a batch of {wanted} does not fit {limit}: the largest that does is {int(largest)}"
        return BatchNeed(wanted, fits=False, because=told)
    told = f"it is not known if a batch of {wanted} fits {limit}: it was not tried"
    return BatchNeed(wanted, None, told)


def _is_too_large(wanted: int, largest: LargestBatch, footprint: Footprint) -> bool:
    sizes = [min(wanted, times * int(largest)) for times in _LARGER]
    spans = [footprint.at(size).interval_bytes for size in sizes]
    return any(span is not None and span[0] > largest.limit_bytes for span in spans)
