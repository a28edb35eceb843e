"""What there is to see where memory ran out, in the process that it happened to, before it ends.

Memory is short, and the program's end waits: each part of the look may fail or be left out, and
then a note says so. The error, its traceback and the exit code stay as they were.
"""

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import FrameType, TracebackType
from typing import Any, Final, Protocol

from lowwater.agent.instrumentation.first_use import Shown
from lowwater.agent.instrumentation.keras_calls import CALLS
from lowwater.model.autopsy import GROUP, IN_HOST_POOL, MACHINE, MOST_HELD, LimitSeen, Pool, Scene
from lowwater.model.frameworks import is_call_of_keras
from lowwater.model.holding import Holding
from lowwater.model.interruption import let_through
from lowwater.model.out_of_memory import (
    AllocationRequest,
    as_plain,
    cause_in_memory,
    pool_says,
    request_of,
)
from lowwater.model.user_code import is_users
from lowwater.probes.bfc_dump import VARIABLE, newest_pool
from lowwater.probes.cgroup import CURRENT, LIMIT, CgroupProbe, text_of
from lowwater.probes.headroom import headroom, soft_limit
from lowwater.probes.pool_limit import host_pool_limit

ADDRESSES: Final = "the address space (`ulimit -v`)"
# What the look at all objects needs to begin with, its own modules included.
_LEAST_ROOM: Final = 48 << 20
_MOST_SECONDS: Final = 5.0
_NO_ROOM: Final = "too little memory was free to find what held it"
_LONGEST: Final = 300
_DEEPEST: Final = 2000
# The calls that make batches of what they are given, and how large one is if that is not said.
_WITH_BATCH_SIZE: Final = ("fit", "evaluate", "predict")
_USUAL_BATCH: Final = 32


class Holds(Protocol):
    """What `lowwater.holdings()` answers."""

    @property
    def rows(self) -> Sequence[Holding]:
        """The largest first."""

    @property
    def in_use_bytes(self) -> Mapping[str, int | None]:
        """By place."""

    @property
    def notes(self) -> Sequence[str]:
        """What keeps it from being complete."""


# With so many seconds, and the frames that the error has ended.
Holdings = Callable[[float, Sequence[FrameType]], Holds]


def scene_of(  # noqa: PLR0913 - each is told by another part
    error: BaseException,
    holdings: Holdings,
    *,
    elapsed_s: float = 0.0,
    shown: Shown = os.path.basename,
    raised: AllocationRequest | None = None,
    dumps: str | None = None,
) -> Scene | None:
    """What can be seen of this error; None where it is none of memory.

    `raised` is what was seen when it was raised, and `dumps` the prefix of the pool's maps.
    """
    cause = cause_in_memory(error)
    if cause is None:
        return None
    notes: list[str] = []
    request = _tried(lambda: _request(cause, error, shown, raised), notes) or AllocationRequest("")
    scene = Scene(elapsed_s, request)
    pool = _tried(lambda: _pool(cause, request, dumps), notes)
    limits = _tried(host_limits, notes) or ()
    held = _tried(lambda: _held(holdings, error, notes), notes)
    in_use: dict[str, int] = {}
    rows: tuple[Holding, ...] = ()
    if held is not None:
        in_use, rows = held
    pool = _tried(lambda: _with_limit(pool, request), notes)
    in_use |= _tried(lambda: _in_pool(pool), notes) or {}
    return replace(
        scene, pool=pool, in_use_bytes=in_use, held=rows, limits=tuple(limits), notes=(*notes,)
    )


def host_limits() -> tuple[LimitSeen, ...]:
    """What ends the memory of a process on the host, and what is in use of each."""
    return tuple(_host_limits())


def request_on_stack(frame: FrameType | None, error: str, shown: Shown) -> AllocationRequest:
    """Where the program is that has asked, and how large its batch: seen when it is refused."""
    where, call, batch = None, None, None
    for _ in range(_DEEPEST):
        if frame is None:
            break
        code = frame.f_code
        if call is None and is_call_of_keras(frame) and code.co_name in CALLS:
            call, batch = code.co_name, _batch_of(frame)
        if is_users(code.co_filename):
            where = f"{shown(code.co_filename)}:{frame.f_lineno}"
            break
        frame = frame.f_back
    return AllocationRequest(error, where=where, call=call, batch_size=batch)


def _request(
    cause: BaseException, error: BaseException, shown: Shown, raised: AllocationRequest | None
) -> AllocationRequest:
    told = request_of(cause)
    where, call, batch = None, None, None
    for frame, line in _frames(cause) or _frames(error):
        if is_call_of_keras(frame) and frame.f_code.co_name in CALLS and call is None:
            call, batch = frame.f_code.co_name, _batch_of(frame)
        if is_users(frame.f_code.co_filename):
            where = f"{shown(frame.f_code.co_filename)}:{line}"
    if raised is not None:
        # Keras takes its own frames out of the traceback.
        call, batch = call or raised.call, batch or raised.batch_size
        where = where or raised.where
    return replace(told, where=where, call=call, batch_size=batch)


def _frames(error: BaseException) -> list[tuple[FrameType, int]]:
    """The outermost first."""
    found: list[tuple[FrameType, int]] = []
    entry: TracebackType | None = error.__traceback__
    while entry is not None and len(found) < _DEEPEST:
        found.append((entry.tb_frame, entry.tb_lineno))
        entry = entry.tb_next
    return found


def _batch_of(frame: FrameType) -> int | None:
    """As it was given to a call of Keras, or as that takes it."""
    values = frame.f_locals
    given = values.get("batch_size")
    if type(given) is int:
        return given
    first = getattr(values.get("x"), "shape", None)
    rows = first[0] if isinstance(first, tuple) and first and type(first[0]) is int else None
    if frame.f_code.co_name in _WITH_BATCH_SIZE:
        return None if rows is None else min(_USUAL_BATCH, rows)
    return rows


def _pool(cause: BaseException, request: AllocationRequest, dumps: str | None) -> Pool | None:
    said = pool_says(cause)
    if said is not None:
        # PyTorch does not say how large its pieces are: only that none was large enough.
        return Pool(
            "PyTorch's pool",
            said.in_use_bytes + said.free_bytes,
            said.in_use_bytes,
            said.free_bytes,
            min(said.free_bytes, max(0, (request.size_bytes or 1) - 1)),
            0,
            said.limit_bytes,
        )
    is_tensorflow = any(kind.__module__.startswith("tensorflow") for kind in type(cause).__mro__)
    prefix = dumps or os.environ.get(VARIABLE)
    return newest_pool(prefix, request.allocator) if is_tensorflow and prefix else None


def _with_limit(pool: Pool | None, request: AllocationRequest) -> Pool | None:
    if pool is None or pool.limit_bytes is not None:
        return pool
    is_host = request.place == "host"
    limit = host_pool_limit() if is_host else _device_limit(request.place)
    return replace(pool, limit_bytes=limit)


def _device_limit(place: str) -> int | None:
    from lowwater.probes.tensorflow_devices import tensorflow_devices

    limits = {one.place: one.limit_bytes for one in tensorflow_devices() or ()}
    return limits.get(place)


def _in_pool(pool: Pool | None) -> dict[str, int]:
    """What is in use of TensorFlow's host pool by now; to the host it is a part of it."""
    context = getattr(sys.modules.get("tensorflow.python.eager.context"), "_context", None)
    if pool is None or context is None or not getattr(context, "_initialized", False):
        return {}
    try:
        return {IN_HOST_POOL: context.get_memory_info("CPU:0")["current"]}
    except Exception as error:  # noqa: BLE001 - a device without statistics raises anything
        let_through(error)
        return {}


def _held(
    holdings: Holdings, error: BaseException, notes: list[str]
) -> tuple[dict[str, int], tuple[Holding, ...]] | None:
    room = headroom()
    if room is not None and room < _LEAST_ROOM:
        notes.append(_NO_ROOM)
        return None
    found = holdings(_MOST_SECONDS, [frame for frame, _ in reversed(_frames(error))])
    notes.extend(one for one in found.notes if not one.startswith("no holder found"))
    in_use = {
        place: as_plain(size) for place, size in found.in_use_bytes.items() if size is not None
    }
    return in_use, tuple(_plain(row) for row in found.rows[:MOST_HELD])


def _plain(row: Holding) -> Holding:
    where = None if row.where is None else row.where[-_LONGEST:]
    held_by = row.held_by[:_LONGEST]
    return Holding(row.kind, row.count, as_plain(row.size_bytes), row.place, held_by, where)


def _host_limits() -> Iterator[LimitSeen]:
    status = text_of("/proc/self/status")
    most = soft_limit("RLIMIT_AS")
    if most is not None:
        yield LimitSeen(ADDRESSES, most, _kib(status, "VmSize"))
    group = CgroupProbe()
    reading = group.read()
    limit = group.limit_bytes()
    if limit is not None:
        gauges = getattr(reading, "gauges", {})
        current = gauges.get(CURRENT) if gauges.get(LIMIT) == limit else None
        yield LimitSeen(GROUP, limit, current)
    machine = text_of("/proc/meminfo")
    total, free = _kib(machine, "MemTotal"), _kib(machine, "MemAvailable")
    if total is not None:
        yield LimitSeen(MACHINE, total, None if free is None else total - free)


def _kib(text: str, name: str) -> int | None:
    for line in text.splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    return None


def _tried(look: Callable[[], Any], notes: list[str]) -> Any:  # noqa: ANN401 - whatever it finds
    """What it finds; None where it fails, for which there is a note."""
    try:
        return look()
    except Exception as error:  # noqa: BLE001 - memory is short, and the program comes first
        let_through(error)
        notes.append(f"a part of the look at the memory failed: {type(error).__name__}")
        return None
