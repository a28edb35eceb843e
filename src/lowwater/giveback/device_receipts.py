"""What a release has changed on each accelerator: in the pool, and for the driver."""

from collections.abc import Mapping
from dataclasses import replace

from lowwater.giveback.receipt import DeviceReceipt
from lowwater.model import NotMeasured
from lowwater.probes.driver_view import DriverView
from lowwater.probes.levels import Levels
from lowwater.probes.memory import PlaceMemory, memory_and_views

Devices = Mapping[str, tuple[PlaceMemory, DriverView]]


def devices_now(levels: Levels) -> Devices:
    """The memory of each accelerator; without one in use, nobody is asked."""
    if not levels.devices:
        return {}
    places, views = memory_and_views()
    return {place: (places[place], view) for place, view in views.items()}


def compared(before: Devices, after: Devices) -> tuple[DeviceReceipt, ...]:
    """A section for each that was there both times."""
    return tuple(
        _with_others(
            DeviceReceipt(
                place,
                before[place][0]["in_use_bytes"],
                now["in_use_bytes"],
                before[place][0]["driver_bytes"],
                now["driver_bytes"],
                now["driver_free_bytes"],
                not_measured=now["not_measured"],
            ),
            view.others_bytes,
        )
        for place, (now, view) in after.items()
        if place in before
    )


def _with_others(receipt: DeviceReceipt, others: int | NotMeasured) -> DeviceReceipt:
    if isinstance(others, int):
        return replace(receipt, others_bytes=others)
    return replace(receipt, not_measured={**receipt.not_measured, "others_bytes": others.why})
