"""One look at all objects of the program; compared with the looks before, it names holders."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from lowwater.agent.census.budget import Budget, Cut
from lowwater.agent.census.co_holders import split_fairly
from lowwater.agent.census.growth import (
    Summary,
    compare,
    holds_data,
    is_data,
    summarise,
    with_new_things,
)
from lowwater.agent.census.growth_site import Sources
from lowwater.agent.census.leak_trace import Tracer
from lowwater.agent.census.look import Look, collector_off
from lowwater.model import Holder
from lowwater.model.policy import POLICY

# More holders than this say no more to a reader.
_MOST_HOLDERS = 12
# A census that broke off is taken once more, without the paths that it could not finish.
_TRIES = 2
# So many censuses that were compared have told something.
_ENOUGH = 2


@dataclass(frozen=True, slots=True)
class Found:
    """What one census has found, beside those before it.

    `starts_over` says that there is none before it with which it could be compared. The sizes are
    those of all objects; None where the program's own were enough.
    """

    holders: tuple[Holder, ...]
    objects_bytes: int | None
    large_bytes: int | None
    starts_over: bool


@dataclass(frozen=True, slots=True)
class Seen:
    """One census: how far it came, and what it has found; None where that tells nothing."""

    objects: int
    cut: Cut | None
    found: Found | None

    @property
    def is_complete(self) -> bool:
        """Whether all objects were looked at."""
        return self.cut is None

    @property
    def holders(self) -> tuple[Holder, ...]:
        """The paths that grew over all censuses that can be compared."""
        return self.found.holders if self.found is not None else ()


class CensusTaker:
    """Takes censuses, and remembers names and numbers of each, but no object.

    What one census leaves out for want of room, all later ones leave out, so that they can be
    compared with it. A census that leaves out more than those before starts over, unless these
    have told something already: then that stands, and the new one is dropped.

    Libraries are left out too, where the first census meets data of the program that may well be
    all that has grown, and for as long as the next ones confirm it.
    """

    def __init__(self, sources: Sources) -> None:
        """`sources` knows the files of the program."""
        self._sources = sources
        self._earlier: list[Summary] = []
        self._left_out: frozenset[int] = frozenset()
        self._cut: Cut | None = None
        self._passes_libraries = False

    @property
    def has_baseline(self) -> bool:
        """Whether there is a census that the next can be compared with."""
        return bool(self._earlier)

    def take(
        self,
        in_use_bytes: int,
        look_at: Callable[[Sequence[Any]], None],
        wanted: Callable[[type], bool],
        budget: Budget | None = None,
        risen_bytes: int = 0,
    ) -> Seen:
        """Walk, compare, and let go; `look_at` is shown all objects of the wanted types.

        `risen_bytes` is what memory in use has risen by so far, as far as that is known.
        """
        with collector_off():
            for _ in range(_TRIES):
                look = Look(self._sources, wanted, budget or Budget(), self._left_out)
                try:
                    look.walk_program()
                    if not self._needs_no_libraries(look, in_use_bytes, risen_bytes):
                        look.walk_libraries()
                    self._cut = self._cut or look.cut
                    if self._can_be_kept(look):
                        look_at(look.objects_wanted)
                        return Seen(look.objects, self._cut, self._compared(look, in_use_bytes))
                    seen = Seen(look.objects, self._cut, None)
                finally:
                    look.forget()
                if self._earlier:
                    break
            return seen

    def _needs_no_libraries(self, look: Look, in_use_bytes: int, risen_bytes: int) -> bool:
        """Whether data that the program keeps accounts for the growth: then libraries do not.

        Their objects are nine in ten. But a model or a function may be held by a library, too.
        """
        if look.cut is not None or self._left_out:
            return False
        if not self._earlier:
            self._passes_libraries = _may_be_all(look, risen_bytes)
            return self._passes_libraries
        explained = self._explained(look, in_use_bytes)
        if not self._passes_libraries:
            return explained >= 1 - POLICY.least_share
        self._passes_libraries = explained >= POLICY.data_share
        if not self._passes_libraries:  # with a walk over all, those before cannot be compared
            self._earlier.clear()
        return self._passes_libraries

    def _explained(self, look: Look, in_use_bytes: int) -> float:
        """The part of the growth since the first census that is in data of the program."""
        growth_bytes = in_use_bytes - self._earlier[0].in_use_bytes
        suspects, _ = compare(look.roots, self._earlier, in_use_bytes)
        kept_bytes = sum(suspect.grown_bytes for suspect in suspects if is_data(suspect))
        return kept_bytes / growth_bytes if growth_bytes > 0 else 0.0

    def _can_be_kept(self, look: Look) -> bool:
        """Whether it tells something: beside those before it, or to those to come."""
        if look.is_broken or look.left_out != self._left_out:
            if len(self._earlier) >= _ENOUGH:
                return False
            self._earlier.clear()
            self._left_out = look.left_out
        return not look.is_broken

    def _compared(self, look: Look, in_use_bytes: int) -> Found:
        holders: tuple[Holder, ...] = ()
        starts_over = not self._earlier
        if self._earlier:
            suspects, longer = compare(look.roots, self._earlier, in_use_bytes)
            found = split_fairly(suspects, longer, look.references, look.room_bytes)
            found = found[:_MOST_HOLDERS]
            known = {id(suspect.node) for suspect in found}
            found += [one for one in with_new_things(longer) if id(one.node) not in known]
            tracer = Tracer(look.references, self._sources, look.is_users_class, self._earlier[-1])
            told = map(tracer.holder, found)
            # More functions and classes of libraries than before: modules were loaded.
            holders = tuple(holder for holder in told if holder.container >= 0)
        self._earlier.append(summarise(look.roots, in_use_bytes))
        if not look.has_walked_libraries:
            return Found(holders, None, None, starts_over)
        sizes = look.sizes
        return Found(holders, sizes.total_bytes, sizes.large_bytes, starts_over)


def _may_be_all(look: Look, risen_bytes: int) -> bool:
    """Whether a container of the program has data about as large as the rise.

    It may have begun to fill a round or two before the rise was measured. The next census shows
    whether it is the one that grows.
    """
    least = max(1, round(POLICY.data_share * risen_bytes))
    most = POLICY.alike * risen_bytes
    return any(
        node.fan_out and least <= node.bytes_below <= most and holds_data(node)
        for root in look.roots
        for node in root.all_below()
    )
