"""Whether memray should watch the next rounds, how many of them, and how closely."""

import math
import os
import sys
import threading
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from lowwater.agent.instrumentation import keras_calls
from lowwater.model import Holder, Tally, tallies
from lowwater.model.frameworks import FRAMEWORKS, package_of
from lowwater.model.units import format_duration
from lowwater.recording.records import Counted, Held, Record, Tallied

# So much of the growth has to be in no Python object.
LEAST_UNEXPLAINED = 0.5
LEAST_UNEXPLAINED_BYTES = 1 << 20
# A Keras `fit` took 2.3 times as long under memray, and ten times with native stacks.
LONGEST_ROUND_S = 20.0
LONGEST_NATIVE_ROUND_S = 2.0
# So many rounds are watched, or more, until they have grown by this much.
FEWEST_ROUNDS = 3
LEAST_TRACED_BYTES = 1 << 20
# Holders with less of the growth say nothing about the rest of it.
_LEAST_HOLDER = 0.03
# Their Python object tells all that they hold.
_DATA = ("Tensor", "Variable", "Array")
_POOL = "TF_CPU_ALLOCATOR_USE_BFC"


class Growth(NamedTuple):
    """What two censuses say: the growth, its parts, and the rounds between."""

    bytes: int
    unexplained_bytes: int
    pool_bytes: int
    rounds: int
    round_s: float
    has_other_cause: bool

    @property
    def deserves_a_trace(self) -> bool:
        """Whether most of it is in no Python object, nor behind one that is known to have more."""
        least = max(LEAST_UNEXPLAINED_BYTES, LEAST_UNEXPLAINED * self.bytes)
        return self.unexplained_bytes >= least and not self.has_other_cause

    def plan(self, unit_id: int) -> "Plan":
        """Enough rounds for a megabyte; with native stacks, which cost most, if they are short."""
        each = self.unexplained_bytes / self.rounds
        rounds = max(FEWEST_ROUNDS, math.ceil(LEAST_TRACED_BYTES / each))
        return Plan(unit_id, rounds, with_native_stacks=self.round_s <= LONGEST_NATIVE_ROUND_S)


class Plan(NamedTuple):
    """A trace that is going to be made."""

    unit_id: int
    rounds: int
    with_native_stacks: bool


def growth_between(
    first: tuple[Counted, int], last: tuple[Counted, int], found: Sequence[Record]
) -> Growth:
    """Compare two censuses, each with what the host pool had in use; `found` is of the last."""
    (early, early_pool), (late, late_pool) = first, last
    holders = [one for held in found if isinstance(held, Held) for one in held.holders]
    counted = [one for rows in found if isinstance(rows, Tallied) for one in rows.tallies]
    grown = late.in_use_bytes - early.in_use_bytes
    rounds = max(1, late.ordinal - _ordinal_at(early, late.unit_id))
    return Growth(
        grown,
        grown - sum(holder.grown_bytes for holder in holders),
        late_pool - early_pool,
        rounds,
        (late.elapsed_us - early.elapsed_us) / 1e6 / rounds,
        _name_a_cause(counted) or any(_is_native_backed(one, grown) for one in holders),
    )


def obstacle(growth: Growth) -> str | None:
    """Why memray would do harm here, or mislead; None if it would not."""
    is_pool = "tensorflow" in sys.modules and os.environ.get(_POOL, "").lower() in ("1", "true")
    if is_pool or growth.pool_bytes > growth.unexplained_bytes / 2:
        return "TensorFlow's memory comes from a pool, so its allocation sites would mislead"
    if growth.round_s > LONGEST_ROUND_S:
        much = format_duration(growth.round_s)
        return f"one round takes {much}, and memray makes it several times slower"
    if "greenlet" in sys.modules:
        return "the program uses greenlets"
    return other_profiler()


def other_profiler() -> str | None:
    """The obstacle that may come up at any time: memray would take the profiler's place."""
    is_free = sys.getprofile() is None and threading.getprofile() is None
    return None if is_free else "the program uses its own profile function"


def _ordinal_at(census: Counted, unit_id: int) -> int:
    """The round trips of a unit that were completed by then; 0 where none was seen yet."""
    if census.unit_id == unit_id:
        return census.ordinal
    return max(0, census.ordinals[unit_id]) if unit_id < len(census.ordinals) else 0


def _name_a_cause(counted: Iterable[Tally]) -> bool:
    """Whether something else rose that holds native memory; calls of `fit` alone hold none."""
    return any(
        tally.grew
        for tally in counted
        if tally.kind != tallies.CALLS or tally.name not in keras_calls.CALLS
    )


def _is_native_backed(holder: Holder, grown_bytes: int) -> bool:
    """Whether more and more models, graphs and the like are held, whose bytes no object tells."""
    is_heavy = holder.grown_bytes >= _LEAST_HOLDER * grown_bytes
    return is_heavy and any(
        package_of(step.type) in FRAMEWORKS and not any(name in step.type for name in _DATA)
        for step in holder.steps[holder.container + 1 :]
    )
