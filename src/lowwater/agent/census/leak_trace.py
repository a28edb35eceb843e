"""From a path that grew to the objects on it: root, …, container, a new item, what is heavy."""

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from types import CellType, CodeType, FrameType, FunctionType, MethodType, ModuleType
from typing import Any

from lowwater.agent.census import edges
from lowwater.agent.census.describe import code_of, file_of, step
from lowwater.agent.census.growth import Summary, Suspect
from lowwater.agent.census.growth_site import ContainerPlace, Sources
from lowwater.agent.census.instances import objects_of
from lowwater.agent.census.kinds import (
    class_attributes,
    derives,
    is_a,
    kind_of,
    library_of,
    qualname_of,
)
from lowwater.agent.census.latest import MOST_ITEMS, latest_items
from lowwater.agent.census.nodes import Node
from lowwater.agent.census.references import OPEN, References
from lowwater.agent.census.roots import namespace, variables_of
from lowwater.agent.census.sizes import Sizes
from lowwater.model import GrowthSite, Holder, Step
from lowwater.model.frameworks import WITH_KERAS, package_of

# How far to follow an item down to what is heavy in it.
_DEEPEST_BELOW = 10
# What of a framework comes with an item is told for this many classes at most.
_MOST_BROUGHT = 6
# A function that a library was given is found this many steps below its container.
_NEAR = 3
_FUNCTIONS = (FunctionType, MethodType)
_CONTAINERS = (list, tuple, dict, set, frozenset)


@dataclass(frozen=True, slots=True)
class Link:
    """An object on the way, and how the one before refers to it."""

    edge: str
    thing: Any


@dataclass(frozen=True, slots=True)
class Tracer:
    """Finds the way to a suspect among the objects that the walk has remembered."""

    references: References
    sources: Sources
    is_users_class: Callable[[type], bool]
    latest: Summary

    def holder(self, suspect: Suspect) -> Holder:
        """All that is told of one suspect."""
        container = self._container(suspect.node)
        above = self._without_library_names([*self._way_down(suspect.node, container)])
        below = [*self._way_to_heavy(suspect, container)]
        steps = [step(link.edge, link.thing, self.sources) for link in (*above, *below)]
        return Holder(
            steps=tuple(steps),
            container=len(above) - 1,
            counts=suspect.counts,
            sizes_bytes=suspect.sizes_bytes,
            grown_bytes=suspect.grown_bytes,
            sites=self._sites(suspect, above, below),
            is_users=suspect.node.is_users,
            is_shared=suspect.is_shared,
            brings=tuple(self._brought(suspect)),
        )

    def _brought(self, suspect: Suspect) -> Iterator[Step]:
        """Library objects of which each new item has one, the nearest first."""
        least = max(1, suspect.counts[-1] // 2)
        below = (node for child in suspect.multiplied for node in child.all_below())
        alike = {
            node.kind: node
            for node in sorted(below, key=lambda node: -node.depth)
            if node.count >= least and library_of(node.kind) in WITH_KERAS
        }
        nearest = sorted(alike.values(), key=lambda node: node.depth)
        for node in islice(nearest, _MOST_BROUGHT):
            yield step("", node.objects[0], self.sources)

    def _without_library_names(self, links: list[Link]) -> list[Link]:
        """What a library calls its variables says nothing to those who use it."""
        root = links[0].thing if links else None
        if type(root) is FrameType and not self.sources.is_users(root.f_code.co_filename):
            links[1:2] = [Link("", link.thing) for link in links[1:2]]
        return links

    def _container(self, node: Node) -> Any:  # noqa: ANN401
        """Of several containers on one path, the one that grew most since the last census."""
        known, sizes = self.latest.lengths, Sizes()
        if not node.fan_out:
            return max(node.objects, key=sizes.of(node.kind))

        def gain(container: Any) -> tuple[int, int]:  # noqa: ANN401
            more = len(container) - known.get(id(container), 0)
            latest = self._parts_of(container)[:1]
            return more * sum(sizes.of(kind_of(item))(item) for item in latest), more

        return max(node.objects, key=gain)

    def _way_down(self, node: Node, thing: Any) -> Iterator[Link]:  # noqa: ANN401
        """The links from the root to this object."""
        way = [(node, thing)]
        while node.parent is not None:
            parent = self._referrer(node.parent, thing)
            node = node.parent
            way.append((node, parent))
            thing = parent
        yield from _linked([*reversed(way)])

    def _referrer(self, node: Node, thing: Any) -> Any:  # noqa: ANN401
        """The object of a node that refers to this one; if it is not remembered, one like it."""
        if len(node.objects) == 1:
            return node.objects[0]
        refers = (one for one in node.objects if any(part is thing for part in self._parts_of(one)))
        found = next(refers, None)
        if found is None and derives(node.kind, type):
            # Only a few of the many classes of libraries are remembered.
            found = _class_with(thing, node.kind)
        return node.objects[0] if found is None else found

    def _way_to_heavy(self, suspect: Suspect, container: Any) -> Iterator[Link]:  # noqa: ANN401
        """A new item of the container, and on to the part of it that is heaviest."""
        if not suspect.multiplied:
            yield from self._latest_item(container)
            return
        node, thing, way = suspect.node, container, [(suspect.node, container)]
        child: Node | None = suspect.multiplied[0]
        while child is not None and len(way) < _DEEPEST_BELOW:
            part = self._part(thing, child, is_item=thing is container)
            if part is None:
                break
            node, thing = child, part
            way.append((node, thing))
            child = _heaviest_below(node)
        yield from [*_linked(way)][1:]

    def _latest_item(self, container: Any) -> Iterator[Link]:  # noqa: ANN401
        """Of a container that shares its items with another, the item that it got last."""
        if kind_of(container) not in OPEN or not container:
            return
        sizes = Sizes()
        parent, thing = container, self._parts_of(container)[0]
        for _ in range(_DEEPEST_BELOW):
            yield Link(edges.label(parent, thing) or edges.ANY_ITEM, thing)
            if kind_of(thing) not in _CONTAINERS or not thing:
                return
            parts = self._parts_of(thing)
            parent, thing = thing, max(parts, key=lambda part: sizes.of(kind_of(part))(part))

    def _part(self, thing: Any, node: Node, *, is_item: bool) -> Any:  # noqa: ANN401
        """A referent of this object that belongs to the node; of items the latest."""
        if node.label:
            return node.objects[-1] if node.objects else None
        alike = [part for part in self._parts_of(thing) if kind_of(part) is node.kind]
        if is_item or not alike:
            return alike[0] if alike else None
        return max(alike, key=Sizes().of(node.kind))

    def _parts_of(self, thing: Any) -> list[Any]:  # noqa: ANN401
        """What an object refers to; the items of a container from the latest to the first."""
        kind = type(thing)
        if kind is FrameType:
            return [*variables_of(thing).values()]
        items = latest_items(thing)
        if kind_of(thing) in OPEN or kind is tuple or len(items) >= MOST_ITEMS:
            return items
        return items + [part for parts in self.references.of(kind, [thing]) for part in parts]

    def _sites(
        self, suspect: Suspect, above: Sequence[Link], below: Sequence[Link]
    ) -> tuple[GrowthSite, ...]:
        """The lines that add to the container, found by the names that lead to it."""
        if suspect.has_generated_names and (found := self._setters(above[-1].thing)):
            return found
        sites = self._adding_sites(above)
        if sites or suspect.node.is_users or any(_is_frameworks(link.thing) for link in above):
            return sites
        return self._giving_sites(below)

    def _giving_sites(self, below: Sequence[Link]) -> tuple[GrowthSite, ...]:
        """Where Python itself keeps functions of the program: the lines that give them to it."""
        functions = (link.thing for link in below[:_NEAR] if is_a(link.thing, *_FUNCTIONS))
        codes = map(code_of, functions)
        own = (code for code in codes if code and self.sources.is_users(code.co_filename))
        given = next((self.sources.handed_over(code.co_name) for code in own), ())
        return given or self._making_sites(below)

    def _making_sites(self, below: Sequence[Link]) -> tuple[GrowthSite, ...]:
        """Where Python keeps objects of its own: the lines that make such an object."""
        kinds = [qualname_of(type(link.thing)) for link in below[:1]]
        return self.sources.made_at(kinds[0].partition(".")[0]) if kinds else ()

    def _adding_sites(self, above: Sequence[Link]) -> tuple[GrowthSite, ...]:
        depth, key = 0, None
        for parent, link in [*pairwise(above)][::-1]:
            place, filename = self._place(parent.thing, link.edge, depth)
            if place is not None:
                found = self.sources.growth_sites(replace(place, key=key), filename)
                if found:
                    return found
            if link.edge.startswith("["):
                # `logs["losses"]` and `logs["predictions"]` are two containers.
                key = link.edge[1:-1] if not depth and link.edge != edges.ANY_ITEM else key
                depth += 1
        return ()

    def _setters(self, container: Any) -> tuple[GrowthSite, ...]:  # noqa: ANN401
        """The same for an object of the program that keeps getting attributes."""
        kind = type(container)
        if derives(kind, ModuleType):
            return self.sources.setters(None, namespace(container).get("__file__"))
        return self.sources.setters(qualname_of(kind), None) if self.is_users_class(kind) else ()

    def _place(
        self,
        parent: Any,  # noqa: ANN401
        edge: str,
        depth: int,
    ) -> tuple[ContainerPlace | None, str | None]:
        """How the source calls a container that the parent refers to by this edge."""
        how, _, name = edge.partition(" ")
        if how in ("local", "closure", "default"):
            return _place_of_variable(parent, how, name, depth)
        if not edge.startswith("."):
            return None, None
        kind = type(parent)
        if derives(kind, ModuleType):
            return ContainerPlace("global", edge[1:], None, depth), namespace(parent).get(
                "__file__"
            )
        defined = parent if derives(kind, type) else kind
        owner = qualname_of(defined) if self.is_users_class(defined) else None
        filename = file_of(defined)
        if derives(kind, type):
            return ContainerPlace("class-attribute", edge[1:], owner, depth), filename
        return ContainerPlace("attribute", edge[1:], owner, depth), filename


def _class_with(thing: Any, metaclass: type) -> type | None:  # noqa: ANN401
    """The class that has this object among its attributes."""
    classes = objects_of({id(metaclass)})
    return next((one for one in classes if _has(class_attributes(one), thing)), None)


def _has(attributes: Mapping[str, Any], thing: Any) -> bool:  # noqa: ANN401
    return any(value is thing for value in [*attributes.values()])


def _is_frameworks(thing: Any) -> bool:  # noqa: ANN401
    if type(thing) is ModuleType:
        return package_of(str(namespace(thing).get("__name__"))) in WITH_KERAS
    return library_of(thing if derives(type(thing), type) else type(thing)) in WITH_KERAS


def _own_code(parent: Any) -> CodeType | None:  # noqa: ANN401
    """The code whose variable it is: that of a decorator's wrapper, not of what it wraps."""
    if type(parent) is FrameType:
        return parent.f_code
    return parent.__code__ if type(parent) is FunctionType else code_of(parent)


def _place_of_variable(
    parent: Any,  # noqa: ANN401
    how: str,
    name: str,
    depth: int,
) -> tuple[ContainerPlace | None, str | None]:
    code = _own_code(parent)
    if code is None:
        return None, None
    if how == "local":
        return ContainerPlace("local", name, code.co_qualname, depth), code.co_filename
    if how == "default":
        return ContainerPlace("default", name, code.co_qualname, depth), code.co_filename
    made_in = code.co_qualname.rpartition(".<locals>.")[0]
    return ContainerPlace("closure", name, made_in, depth), code.co_filename


def _linked(way: Sequence[tuple[Node, Any]]) -> Iterator[Link]:
    """Name the edges; what only stands between an object and its parts is left out."""
    parent: Any = None
    between: Any = None
    for index, (node, thing) in enumerate(way):
        if node.parent is None and type(thing) is list:
            continue  # a root that stands for many: the first object is the beginning
        is_last = index == len(way) - 1
        if parent is not None and not is_last and _is_transparent(parent, thing):
            between = thing
            continue
        yield Link(_edge(node, parent, between, thing), thing)
        parent, between = thing, None


def _edge(node: Node, parent: Any, between: Any, thing: Any) -> str:  # noqa: ANN401
    if node.parent is None or parent is None:
        return ""
    if type(parent) is functools._lru_cache_wrapper and type(thing) is dict:  # noqa: SLF001
        return ".cache"
    if type(between) is dict:
        # Some classes of C++ have attributes, but no `__dict__` that would tell their names.
        names = (f".{name}" for name, part in [*between.items()] if part is thing)
        return next(names, "")
    found = node.label or edges.label(parent, thing)
    return found or (edges.ANY_ITEM if is_a(parent, *_CONTAINERS) else "")


def _is_transparent(parent: Any, thing: Any) -> bool:  # noqa: ANN401
    """Whether a reader would not call this an object: a cell, the dictionary of an instance."""
    if type(thing) is CellType:
        return True
    if type(thing) is not dict or is_a(parent, *_CONTAINERS) or not thing:
        return False
    if len(thing) > MOST_ITEMS:
        return False
    return edges.label(parent, thing) == "" and all(type(key) is str for key in [*thing])


def _heaviest_below(node: Node) -> Node | None:
    """The part that most of the bytes lie in; None when they are the object's own."""
    below = node.own_children()
    heaviest = max(below, key=lambda child: child.bytes_below, default=None)
    if heaviest is None or node.own_bytes >= heaviest.bytes_below:
        return None
    return heaviest
