"""Tells the recording which accelerators the program uses, as soon as it has set them up."""

from collections.abc import Callable

from lowwater.model import Reading
from lowwater.probes.tensorflow_devices import tensorflow_devices
from lowwater.recording.records import DevicesFound, Record


class DevicesWitness:
    """A probe without gauges: what it has to say is said once, at the first sample that can."""

    name = "devices"

    def __init__(self, record: Callable[[Record], None]) -> None:
        """Write with `record`."""
        self._record = record
        self._is_told = False

    def read(self) -> Reading:
        """Look whether the devices are there by now."""
        if not self._is_told and (devices := tensorflow_devices()):
            self._is_told = True
            self._record(DevicesFound([*devices]))
        return Reading({})
