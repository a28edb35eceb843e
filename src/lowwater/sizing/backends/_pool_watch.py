"""The peak of a step in TensorFlow's pool, and what its tensors asked for.

A pool gives out the pieces that it happens to have, so its peak misses the line through other
batch sizes by up to a fifth. Each single allocation grows evenly with the batch. TensorFlow's
profiler tells them all, with their names.
"""

import shutil
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from lowwater.model.step_trace import GIVEN_BACK, StepTrace
from lowwater.probes.pool_limit import host_pool_limit
from lowwater.sizing.backends._vain_wait import VainWait

# ruff: noqa: ANN401 - TensorFlow and its messages have no types

_GIVEN = "MemoryAllocation"
_TAKEN_BACK = "MemoryDeallocation"
Event = tuple[int, str, Mapping[str, Any]]


class PoolWatch:
    """Watches the pool of one place from the start of a step to its end."""

    def __init__(self, place: str) -> None:
        """Of one place, such as `CPU:0`."""
        self._place = place
        self._folder: str | None = None
        self._before_bytes = 0
        limit_bytes = host_pool_limit()
        self._wait = None if limit_bytes is None else VainWait(self._in_use, limit_bytes)

    def start(self, *, is_watched: bool) -> None:
        """A step begins. Its allocations are watched if nobody else uses the profiler."""
        import tensorflow as tf

        tf.config.experimental.reset_memory_stats(self._place)
        if self._wait is not None:
            self._wait.begin()
        if not is_watched:
            return
        self._before_bytes = self._in_use()
        self._folder = tempfile.mkdtemp(prefix="lowwater-")
        profiler = tf.profiler.experimental
        # Neither calls of Python nor kernels: what is left costs some milliseconds.
        levels = profiler.ProfilerOptions(
            host_tracer_level=1, python_tracer_level=0, device_tracer_level=0
        )
        try:
            profiler.start(self._folder, levels)
        except Exception:  # noqa: BLE001 - without it, the pool's own peak has to do
            self._forget()

    def stop(self) -> tuple[int, StepTrace | None]:
        """A step has ended: its peak, and what was asked for; None where that is not known."""
        import tensorflow as tf

        if self._wait is not None:
            self._wait.done()
        peak: int = tf.config.experimental.get_memory_info(self._place)["peak"]
        if self._folder is None:
            return peak, None
        try:
            tf.profiler.experimental.stop()
            found = events_of(_events(Path(self._folder)), peak)
        except Exception:  # noqa: BLE001 - the same
            return peak, None
        finally:
            self._forget()
        return peak, StepTrace(self._before_bytes, found) if found else None

    def _in_use(self) -> int:
        import tensorflow as tf

        found: int = tf.config.experimental.get_memory_info(self._place)["current"]
        return found

    def _forget(self) -> None:
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
        self._folder = None


def events_of(events: Iterable[Event], peak_bytes: int) -> tuple[tuple[str, int], ...]:
    """Allocations in the order of time; none where no one pool had the peak that is meant."""
    ordered = sorted(events, key=lambda one: one[0])
    pools = {
        facts["allocator_name"]
        for _, _, facts in ordered
        if facts["peak_bytes_in_use"] == peak_bytes
    }
    if len(pools) != 1:
        return ()
    found: list[tuple[str, int]] = []
    held: dict[int, int] = {}
    seen: Counter[str] = Counter()
    for _, name, facts in ordered:
        if facts["allocator_name"] not in pools:
            continue
        address = facts["addr"]
        if name == _GIVEN:
            what = f"{facts.get('tf_op')} {facts.get('region_type')} {facts.get('data_type')}"
            seen[what] += 1
            held[address] = len(found)
            found.append((f"{what} {seen[what]}", int(facts["requested_bytes"])))
        elif address in held:  # what was there before the step may end in it
            found.append((GIVEN_BACK, held.pop(address)))
    return tuple(found)


def _events(folder: Path) -> Iterator[Event]:
    """Time, name and facts of all that happened to memory."""
    from tensorflow.tsl.profiler.protobuf import xplane_pb2

    for file in folder.rglob("*.xplane.pb"):
        for plane in xplane_pb2.XSpace.FromString(file.read_bytes()).planes:
            names = {key: one.name for key, one in plane.event_metadata.items()}
            facts = {key: one.name for key, one in plane.stat_metadata.items()}
            for line in plane.lines:
                began_ps = 1000 * line.timestamp_ns
                for event in line.events:
                    name = names.get(event.metadata_id, "")
                    if name in (_GIVEN, _TAKEN_BACK):
                        yield began_ps + event.offset_ps, name, dict(_facts(event, facts))


def _facts(event: Any, names: Mapping[int, str]) -> Iterator[tuple[str, Any]]:
    for fact in event.stats:
        kind = fact.WhichOneof("value")
        value = getattr(fact, kind)
        # Texts that occur often are kept once, beside the names.
        yield names[fact.metadata_id], names[value] if kind == "ref_value" else value
