"""What a census sees: who holds the objects that grew, and what was counted beside them."""

from dataclasses import dataclass
from itertools import pairwise

from lowwater.model.measured import Unit


@dataclass(frozen=True, slots=True)
class Census:
    """One look at all objects of the program, taken at a boundary after a collection.

    `native_bytes` is the part of the bytes in use that malloc has handed out, `objects_bytes` the
    size of all objects that were found, and `large_bytes` the part of it that malloc has given:
    small objects live in memory that CPython manages itself.
    """

    unit_id: int
    ordinal: int
    elapsed_s: float
    took_s: float
    in_use_bytes: int
    objects: int
    ordinals: tuple[int, ...] = ()
    native_bytes: int | None = None
    objects_bytes: int | None = None
    large_bytes: int | None = None

    def ordinal_of(self, unit: Unit) -> int | None:
        """The round trips of any unit that were completed by then, as far as they were seen."""
        if unit.id == self.unit_id:
            return self.ordinal
        known = self.ordinals[unit.id] if unit.id < len(self.ordinals) else -1
        return known if known >= 0 else None


# What `Step.about` ends with for a tensor of torch that was not detached.
WITH_GRAPH = " with its graph"


@dataclass(frozen=True, slots=True)
class Step:
    """One object on the way from a root to what grew: how it is reached, and what it is.

    `edge` is `.saved`, `['x']`, `[*]`, `local net` …; `kinds` are the full names of the classes
    that the object is an instance of, the most special first. `where` is the user's own line:
    of the class, of the function, or the line at which a frame stands.
    """

    edge: str
    type: str
    kinds: tuple[str, ...] = ()
    about: str = ""
    where: str | None = None


@dataclass(frozen=True, slots=True)
class GrowthSite:
    """A line of the program that adds to a container.

    `keeps_batches` says that it adds what a generator yields, or what the `__getitem__` of a data
    set returns.
    """

    where: str
    code: str
    is_memo: bool = False
    in_function: str | None = None
    keeps_batches: bool = False


@dataclass(frozen=True, slots=True)
class Holder:
    """A path that grew from census to census: root, …, container, item, …, what is heavy.

    `steps[container]` is the object that grew; the steps behind it lead to the largest part of
    one of its new items. `counts` and `sizes_bytes` have one value per census: the items, and
    the bytes that are reached through the path. `grown_bytes` is its fair part of the growth
    between the first and the last census: what several holders reach is split among them,
    and then `is_shared`. `brings` are the library's objects that come with each new item, if not
    on the way to its largest part.
    """

    steps: tuple[Step, ...]
    container: int
    counts: tuple[int, ...]
    sizes_bytes: tuple[int, ...]
    grown_bytes: int
    sites: tuple[GrowthSite, ...] = ()
    is_users: bool = True
    is_shared: bool = False
    brings: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True)
class Tally:
    """How many things of one kind there were at each census; see `lowwater.model.tallies`."""

    kind: str
    name: str
    counts: tuple[int, ...]
    where: str | None = None
    about: str = ""

    @property
    def grew(self) -> bool:
        """Whether it rose from each census to the next."""
        return len(self.counts) > 1 and all(low < high for low, high in pairwise(self.counts))


@dataclass(frozen=True, slots=True)
class NativeSite:
    """A place that allocated what was not freed while memray watched.

    `where` is the program's innermost line, None where no line of it was on the stack; `function`
    is that line's function, else a library's. `native` is the function below it that wanted the
    memory, empty where it has no name or native stacks were not traced.
    """

    where: str | None
    function: str
    native: str
    grown_bytes: int


@dataclass(frozen=True, slots=True)
class NativeTrace:
    """What memray saw: for how many rounds, by how much memory in use grew meanwhile, and where."""

    rounds: int
    grown_bytes: int
    sites: tuple[NativeSite, ...] = ()
