"""What a release has changed on each accelerator: in the pool, and for the driver."""

from collections.abc import Mapping

from lowwater.giveback.receipt import DeviceReceipt
from lowwater.model.gauges import HOST
from lowwater.probes.levels import Levels
from lowwater.probes.memory import PlaceMemory, memory


def devices_now(levels: Levels) -> Mapping[str, PlaceMemory]:
    """The memory of each accelerator; without one in use, nobody is asked."""
    if not levels.devices:
        return {}
    return {place: found for place, found in memory().items() if place != HOST}


def compared(
    before: Mapping[str, PlaceMemory], after: Mapping[str, PlaceMemory]
) -> tuple[DeviceReceipt, ...]:
    """A section for each that was there both times."""
    return tuple(
        DeviceReceipt(
            place,
            before[place]["in_use_bytes"],
            now["in_use_bytes"],
            before[place]["driver_bytes"],
            now["driver_bytes"],
            now["driver_free_bytes"],
            now["not_measured"],
        )
        for place, now in after.items()
        if place in before
    )
