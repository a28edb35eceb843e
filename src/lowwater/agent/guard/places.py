"""What the guard reads at a boundary: the level of each place, and the room below its limits."""

import sys
from collections.abc import Iterator, Sequence
from typing import Any, Final

from lowwater.agent.guard.decision import Standing
from lowwater.model import Reading
from lowwater.model.devices import DeviceMemory
from lowwater.model.gauges import HOST, RSS_ANON, in_use_bytes, rss_bytes
from lowwater.model.guard import Room
from lowwater.model.interruption import let_through
from lowwater.model.protocols import Probe
from lowwater.probes import default_probes
from lowwater.probes.headroom import rooms
from lowwater.probes.host import peak_bytes
from lowwater.probes.jax_memory import jax_memory
from lowwater.probes.pool_limit import host_pool_limit
from lowwater.probes.tensorflow_memory import tensorflow_memory
from lowwater.probes.torch_memory import torch_memory

# TensorFlow's pool for host tensors, where it is a place of its own with a limit of its own.
HOST_POOL: Final = "TensorFlow's host pool"
_CONTEXT: Final = "tensorflow.python.eager.context"


class GuardedPlaces:
    """Reads all places with probes of its own: those of the samples count what they are asked."""

    def __init__(self, probes: Sequence[Probe] | None = None) -> None:
        """Nothing is read yet."""
        self._probes = tuple(probes) if probes is not None else default_probes()
        # By place: the limit of a device's pool, and what is taken of it.
        self._pools: dict[str, Room] = {}
        self._has_host_pool = True

    def standings(self) -> dict[str, Standing]:
        """Every place that can be read."""
        found = {}
        host = self._host()
        if host is not None:
            found[HOST] = host
        for place, (standing, limit_bytes) in self._all_pools():
            found[place] = standing
            self._pools[place] = Room(
                _name(place), limit_bytes, limit_bytes - standing.taken_bytes, is_pool=True
            )
        return found

    def rooms_of(self, place: str) -> tuple[Room, ...]:
        """What is left at a place, below each of its limits; of a pool as it was last read."""
        if place == HOST:
            return rooms()
        return (self._pools[place],) if place in self._pools else ()

    def _host(self) -> Standing | None:
        gauges: dict[str, int] = {}
        for probe in self._probes:
            answer = probe.read()
            gauges |= answer.gauges if isinstance(answer, Reading) else {}
        level = in_use_bytes(gauges)
        if RSS_ANON not in gauges:
            return None
        taken = rss_bytes(gauges)
        level = gauges[RSS_ANON] if level is None else level
        return Standing(level, taken, max(taken, peak_bytes() or 0))

    def _all_pools(self) -> Iterator[tuple[str, tuple[Standing, int]]]:
        host = self._host_pool()
        if host is not None:
            yield HOST_POOL, host
        for told in (tensorflow_memory(), jax_memory(), torch_memory()):
            for device in told if isinstance(told, tuple) else ():
                pool = _pool_of(device)
                if pool is not None:
                    yield device.device.place, pool

    def _host_pool(self) -> tuple[Standing, int] | None:
        limit_bytes = host_pool_limit()
        context: Any = getattr(sys.modules.get(_CONTEXT), "_context", None)
        is_started = getattr(context, "_initialized", False)
        if limit_bytes is None or not (self._has_host_pool and is_started):
            return None
        try:
            info = context.get_memory_info("CPU:0")
        except Exception as error:  # noqa: BLE001 - without a pool it raises anything
            let_through(error)
            self._has_host_pool = False
            return None
        in_use, peak = int(info["current"]), int(info["peak"])
        return Standing(in_use, in_use, peak), limit_bytes


def _pool_of(told: DeviceMemory) -> tuple[Standing, int] | None:
    in_use, peak, limit = told.in_use_bytes, told.peak_bytes, told.limit_bytes
    if not (isinstance(in_use, int) and isinstance(peak, int) and isinstance(limit, int)):
        return None
    return Standing(in_use, in_use, peak), limit


def _name(place: str) -> str:
    return place if place == HOST_POOL else f"{place} pool"
