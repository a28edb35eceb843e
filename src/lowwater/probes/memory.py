"""`lowwater.memory()`: what the program has of the host's memory and of each accelerator's."""

from collections.abc import Iterator, Mapping
from typing import Final, TypedDict, cast

from lowwater.model import NotMeasured, Reading, gauges
from lowwater.model.devices import Device, DeviceMemory
from lowwater.probes import default_probes
from lowwater.probes.driver_view import DriverView, gpus_now, views, visible_devices
from lowwater.probes.headroom import headroom, limit_bytes
from lowwater.probes.host import peak_bytes
from lowwater.probes.jax_memory import jax_memory
from lowwater.probes.tensorflow_memory import FORKED, is_forked, pool_bytes, tensorflow_memory
from lowwater.probes.torch_memory import torch_memory

_NO_FRAMEWORK: Final = "no framework has used this device in this process"
_NOT_READ: Final = "the system does not report it"


class PlaceMemory(TypedDict):
    """The memory of one place, in bytes; for what is None, `not_measured` has the reason."""

    in_use_bytes: int | None
    pool_bytes: int | None
    peak_bytes: int | None
    limit_bytes: int | None
    driver_bytes: int | None
    driver_free_bytes: int | None
    not_measured: dict[str, str]


def memory() -> dict[str, PlaceMemory]:
    """The memory of this process, by place: `"host"`, then `"GPU:0"` and so on.

    Every place has the same keys, in bytes. `in_use_bytes` is what objects of the program occupy;
    `pool_bytes` is what allocators have taken, in use or kept for reuse; `peak_bytes` is the
    highest so far; `limit_bytes` is the most that there can be. `driver_bytes` is what this process
    takes according to the driver, with its context; `driver_free_bytes` is free for anybody.

    For the host, the system takes the place of the driver: `driver_bytes` is resident memory,
    `peak_bytes` its highest value, and `driver_free_bytes` is what the process can still get.

    A value that is not known is None, and `not_measured` has the reason by the same key. If no
    GPU can be shown, that of the host says why under `"devices"`. The call imports and starts no
    framework. Before a framework has used a GPU, the places are the GPUs that it would find.
    """
    return memory_and_views()[0]


def memory_and_views() -> tuple[dict[str, PlaceMemory], dict[str, DriverView]]:
    """The same, and by place what the driver says of each device."""
    gpus = gpus_now()
    told, why = _of_frameworks()
    if not told:
        told = [_unused(device, why) for device in visible_devices(gpus)]
    found, by_place = {gauges.HOST: _host()}, {}
    if not told and isinstance(gpus, NotMeasured):
        found[gauges.HOST]["not_measured"]["devices"] = gpus.why
    seen = views([one.device for one in told], gpus)
    for one, view in zip(told, seen, strict=True):
        place = one.device.place
        # Two frameworks in one process, each with a pool of its own.
        name = f"{place} ({one.device.framework})" if place in found else place
        found[name], by_place[name] = _device(one, view), view
    return found, by_place


def _of_frameworks() -> tuple[list[DeviceMemory], str]:
    """What each of them says; and why, where none says anything."""
    told: list[DeviceMemory] = []
    reasons: list[str] = []
    for answer in (tensorflow_memory(), jax_memory(), torch_memory()):
        if isinstance(answer, NotMeasured):
            reasons.append(answer.why)
        elif answer is not None:
            told += answer
    return told, "; ".join(reasons) or _NO_FRAMEWORK


def _unused(device: Device, why: str) -> DeviceMemory:
    unknown = NotMeasured(why)
    return DeviceMemory(device, unknown, unknown, unknown, unknown)


def _device(one: DeviceMemory, view: DriverView) -> PlaceMemory:
    is_tensorflow = one.device.framework == "TensorFlow"
    pool = pool_bytes(one, view.used_bytes) if is_tensorflow else one.pool_bytes
    return _place(
        one.in_use_bytes,
        pool,
        one.peak_bytes,
        one.limit_bytes,
        view.used_bytes,
        view.free_bytes,
    )


def _host() -> PlaceMemory:
    found, reasons = _gauges()
    resident = gauges.rss_bytes(found) if gauges.RSS_ANON in found else None
    unread = NotMeasured(_NOT_READ)
    peak, limit, free = peak_bytes(), limit_bytes(), headroom()
    return _place(
        *_of_allocators(found, reasons),
        unread if peak is None else peak,
        unread if limit is None else limit,
        NotMeasured(reasons.get("host", _NOT_READ)) if resident is None else resident,
        unread if free is None else free,
    )


def _of_allocators(
    found: Mapping[str, int], reasons: Mapping[str, str]
) -> Iterator[int | NotMeasured]:
    """What is in use, and what malloc, Python and TensorFlow's pool have taken for it."""
    in_use = gauges.in_use_bytes(found)
    why = NotMeasured(reasons.get("malloc", _NOT_READ))
    if in_use is not None and "tensorflow" in reasons:
        yield NotMeasured(reasons["tensorflow"])
    else:
        yield why if in_use is None else in_use
    taken = sum(found.get(name, 0) for name in (gauges.HEAP_USED, gauges.HEAP_FREE))
    taken += found.get(gauges.MMAP_USED, 0) + found.get(gauges.RESULTS_MAPPED, 0)
    yield why if in_use is None else taken + gauges.python_bytes(found)


def _gauges() -> tuple[dict[str, int], dict[str, str]]:
    """What the probes of every run say, and the reasons of those that matter."""
    found: dict[str, int] = {}
    reasons: dict[str, str] = {}
    for probe in default_probes():
        if probe.name == "tensorflow" and is_forked():
            # How much of its pool is free would have to be asked.
            reasons[probe.name] = FORKED
            continue
        reading = probe.read()
        if isinstance(reading, Reading):
            found |= reading.gauges
        elif probe.name != "tensorflow":
            reasons[probe.name] = reading.why
    return found, reasons


def _place(*values: int | NotMeasured) -> PlaceMemory:
    """The values in the order of the keys."""
    names = [name for name in PlaceMemory.__annotations__ if name != "not_measured"]
    known = dict(zip(names, values, strict=True))
    numbers = {key: None if isinstance(one, NotMeasured) else one for key, one in known.items()}
    reasons = {key: one.why for key, one in known.items() if isinstance(one, NotMeasured)}
    return cast("PlaceMemory", {**numbers, "not_measured": reasons})
