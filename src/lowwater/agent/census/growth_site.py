"""The lines of the user's program that add to a container, found in its source text."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Literal, NamedTuple

from lowwater.agent.census._source.additions import Addition, Certainty, Spot
from lowwater.agent.census._source.aliases import FOREIGN, Aliases, HeldItem
from lowwater.agent.census._source.names import Names, Slot, attribute_of
from lowwater.agent.census._source.scopes import Scope
from lowwater.agent.census._source.user_file import UserFile
from lowwater.model import GrowthSite
from lowwater.model.frameworks import PY_DATASETS
from lowwater.model.interruption import let_through

_MOST_SITES = 3
# These run once for each object: what they add is there from the start.
_SETTING_UP = frozenset("__init__ __init_subclass__ __new__ __post_init__".split())
# Inside a class, Python spells `__name` as `_Class__name`.
_MANGLED = re.compile(r"_[^_]\w*?(__\w+(?<!__))")
_CALL = re.compile(r"(\w[\w.]*)\s*\(")


@dataclass(frozen=True, slots=True)
class ContainerPlace:
    """How a container is reached.

    `owner` is the class of an attribute, or the function of a variable. `depth` counts the items
    below: 1 for a list in a dict; `key` is the key of the last one as `repr` writes it, if it is
    known to be always the same.
    """

    kind: Literal["attribute", "class-attribute", "global", "local", "closure", "default"]
    name: str
    owner: str | None = None
    depth: int = 0
    key: str | None = None


class Sources:
    """The user's files as they were when they were loaded."""

    def __init__(self) -> None:
        self._files: dict[str, UserFile] = {}

    def add(self, filename: str, source: bytes, shown: str) -> None:
        """Keep the text of a file; `shown` is how a report calls it."""
        self._files[filename] = UserFile(filename, source, shown)

    def is_users(self, filename: str) -> bool:
        """Whether the file is part of the user's program."""
        return filename in self._files

    def shown(self, filename: str) -> str | None:
        """How a report calls the file."""
        file = self._files.get(filename)
        return file.shown if file else None

    def called_at(self, filename: str, line: int) -> str:
        """What a line calls first, as `model.fit(…)`; empty where it calls nothing."""
        file = self._files.get(filename)
        call = _CALL.search(file.line(line)) if file else None
        return f"{call[1]}(…)" if call else ""

    def decorated_at(self, filename: str, line: int) -> str | None:
        """Where a function begins, its decorators included: the line of its code object."""
        shown = self.shown(filename)
        return f"{shown}:{line}" if shown else None

    def only_call_of(self, name: str) -> str | None:
        """The line that calls what has this name, if there is one in all of the program."""
        lines = [line for file in self._files.values() for line in file.calls_of(name)]
        return lines[0] if len(lines) == 1 else None

    def handed_over(self, name: str) -> tuple[GrowthSite, ...]:
        """The lines that give the function of this name away."""
        found = (site for file in self._files.values() for site in file.calls_with(name))
        return tuple(islice(_once_each(found), _MOST_SITES))

    def made_at(self, name: str) -> tuple[GrowthSite, ...]:
        """The lines that call the class of this name."""
        found = (line for file in self._files.values() for line in file.calls_of(name))
        return tuple(GrowthSite(line, f"{name}(…)") for line in islice(found, _MOST_SITES))

    def class_line(self, filename: str, qualname: str) -> str | None:
        """Where a class is defined; None if it is not in the text."""
        scope = Names(self._files).scope(filename, qualname)
        is_class = scope is not None and scope.kind == "class"
        return self.decorated_at(filename, scope.line) if scope and is_class else None

    def growth_sites(self, place: ContainerPlace, filename: str | None) -> tuple[GrowthSite, ...]:
        """The lines that add to a container, the best first, at most three.

        `filename` is the file of the owner: the class, the function, or the module of a global.
        """
        try:
            return self._sites(place, filename) or self._sites(_unmangled(place), filename)
        except Exception as error:  # noqa: BLE001 - no line is better than a failure in the user's program
            let_through(error)
            return ()

    def bound_at(self, place: ContainerPlace, filename: str) -> str | None:
        """The line that last gave a variable or an attribute its value, in the order of the text.

        For an attribute `filename` is the file of its class.
        """
        file = self._files.get(filename)
        line = file.bound_at(place.owner or "", place.name, place.kind) if file else None
        return f"{file.shown}:{line}" if file and line else None

    def setters(self, owner: str | None, filename: str | None) -> tuple[GrowthSite, ...]:
        """The lines that give objects of a class, or a module, a new name each time.

        Without an `owner` it is the module. Outside of the class it may be meant, so that is told
        only where there is nothing inside.
        """
        found = [(file, one) for file in self._files.values() for one in file.setters()]
        if owner is None:
            own = [
                (file, one) for file, one in found if one.of_module and file.filename == filename
            ]
        else:
            name = owner.rpartition(".")[2]
            others = [(file, one) for file, one in found if not one.of_module]
            own = [pair for pair in others if pair[1].owner == name] or others
        return tuple(file.site(one.node) for file, one in own[:_MOST_SITES])

    def _sites(self, place: ContainerPlace, filename: str | None) -> tuple[GrowthSite, ...]:
        files = [filename, *self._files]
        useful = sorted(
            filter(_is_useful, self._candidates(place, filename)),
            key=lambda one: (*one.rank, one.place(files)),
        )
        best = [one for one in useful if one.kind == useful[0].kind]
        return tuple(islice(_once_each(self._told(best)), _MOST_SITES))

    def _candidates(self, place: ContainerPlace, filename: str | None) -> Iterator["_Candidate"]:
        names = Names(self._files)
        aliases = Aliases(names)
        for slot in _slots(place, filename, names):
            for held in aliases.everywhere(HeldItem(slot, place.depth, place.key)):
                for addition, closeness in aliases.additions(held):
                    yield _Candidate(addition, held, closeness)

    def _told(self, candidates: Iterable["_Candidate"]) -> Iterator[GrowthSite]:
        for one in candidates:
            site = self._site(one.addition.spot)
            yield replace(
                site,
                is_memo=self._is_memo(one.addition),
                keeps_batches=self._keeps_batches(one.addition),
            )
            # The line of a helper says what adds; the line that calls it says to what.
            for call in one.held.calls:
                yield self._site(call)

    def _site(self, spot: Spot) -> GrowthSite:
        file = self._files[spot.scope.filename]
        function = spot.scope.function
        qualname = function.qualname if function else None
        return GrowthSite(file.where(spot), file.code(spot), in_function=qualname)

    def _keeps_batches(self, addition: Addition) -> bool:
        """Whether the line adds what a generator, or a data set written in Python, hands out."""
        function = addition.spot.scope.function
        if function is None:
            return False
        its_own = function.bound - {function.receiver}
        if addition.added.isdisjoint(function.handed_out & its_own):
            return False
        return function.is_generator or self._is_access_of_data_set(function)

    def _is_access_of_data_set(self, function: Scope) -> bool:
        owner = function.parent
        if function.name != "__getitem__" or owner is None or owner.kind != "class":
            return False
        lineage = Names(self._files).lineage(owner)
        return any(base.name in PY_DATASETS for scope in lineage for base in scope.bases)

    def _is_memo(self, addition: Addition) -> bool:
        """Whether the line keeps results for later calls with the same arguments."""
        function = addition.spot.scope.function
        container = addition.receiver.without_key
        if function is None or not addition.stores_result or not function.takes_arguments:
            return False
        others = self._files[function.filename].index.additions[container.name]
        # What is changed after it was stored is a group or a count, not a result.
        is_grouping = any(
            other.spot.scope.function is function
            and other.receiver.names == container.names
            and other.receiver.depth > container.depth
            for other in others
        )
        return container in function.looked_up and not is_grouping


class _Candidate(NamedTuple):
    """A line that may add to the container, reached by one of its names."""

    addition: Addition
    held: HeldItem
    closeness: int

    @property
    def below(self) -> int:
        """0 if the line adds to the container itself, more if to an item, less if around it."""
        return self.addition.receiver.depth - self.held.depth

    @property
    def kind(self) -> tuple[bool, bool, int, Certainty]:
        """Of all lines, only those of the same kind as the best are told."""
        certainty = self.addition.certainty
        return certainty == Certainty.REBINDS, self.below < 0, self.below, certainty

    @property
    def rank(self) -> tuple[object, ...]:
        """The best line has the lowest."""
        is_rebinding, *kind = self.kind
        is_set_up = _is_set_up(self.addition.spot)
        is_foreign = self.closeness == FOREIGN
        return is_rebinding, is_foreign, *kind, is_set_up, self.held.hops, self.closeness

    def place(self, files: list[str | None]) -> tuple[int, int]:
        """The order of lines that are equally good."""
        spot = self.addition.spot
        return files.index(spot.scope.filename), spot.span.line


def _slots(place: ContainerPlace, filename: str | None, names: Names) -> list[Slot]:
    """The variable or attribute that is meant; more than one if its file is not known."""
    if place.kind in {"attribute", "class-attribute"}:
        owners = names.scopes(place.owner, filename) if place.owner else []
        known = [attribute_of(owner, place.name) for owner in owners]
        # An object of a library's class is never the `self` of a class that the user wrote.
        return known or [Slot(None, place.owner or "", place.name, is_attribute=True)]
    if place.kind != "global" and place.owner not in {None, "<module>"}:
        functions = names.scopes(place.owner or "", filename)
        return [names.slot_of((place.name,), function) for function in functions]
    modules = names.scopes("", filename)
    # Only a file that is known may have got its variable by other means than its own text.
    holders = [one for one in modules if filename is not None or place.name in one.bound]
    return [names.slot_of((place.name,), module) for module in holders]


def _is_useful(candidate: _Candidate) -> bool:
    """Whether to say a line at all: a new value matters only where it is given again and again."""
    if candidate.addition.certainty != Certainty.REBINDS:
        return True
    is_here = candidate.below == 0 and candidate.held.hops == 0 and candidate.closeness != FOREIGN
    return is_here and not _is_set_up(candidate.addition.spot)


def _is_set_up(spot: Spot) -> bool:
    function = spot.scope.function
    return spot.loops == 0 if function is None else function.name in _SETTING_UP


def _once_each(sites: Iterable[GrowthSite]) -> Iterator[GrowthSite]:
    told: set[str] = set()
    for site in sites:
        if site.where not in told:
            told.add(site.where)
            yield site


def _unmangled(place: ContainerPlace) -> ContainerPlace:
    mangled = _MANGLED.fullmatch(place.name)
    return replace(place, name=mangled[1]) if mangled else place
