"""By which variable the program holds what lies on a path of a census, and the line of it."""

import linecache
from types import FrameType, ModuleType
from typing import Any, NamedTuple

from lowwater.agent.census.describe import file_of
from lowwater.agent.census.growth_site import ContainerPlace, Sources
from lowwater.agent.census.kinds import qualname_of
from lowwater.agent.census.nodes import Node
from lowwater.agent.census.references import OPEN
from lowwater.agent.census.roots import namespace
from lowwater.giveback.frames import line_of, shown
from lowwater.model.frameworks import package_of
from lowwater.model.user_code import is_users

LIBRARIES = "libraries"


class Named(NamedTuple):
    """A holder in words, and the line that made it one."""

    held_by: str
    where: str | None = None


class HolderNames:
    """Names holders; reads each file of the program once."""

    def __init__(self) -> None:
        """No file was read yet."""
        self._sources = Sources()
        self._known: set[str] = set()
        self._names: dict[int, Named] = {}

    def of(self, node: Node) -> Named:
        """Who holds what lies on this path."""
        way = [*node.path_up()][::-1]
        labels = 1
        while labels < len(way) and way[labels].label:
            labels += 1
        key = way[labels - 1].key
        if key not in self._names:
            self._names[key] = self._named(way[:labels])
        return self._names[key]

    def _named(self, way: list[Node]) -> Named:
        root = way[0]
        thing = root.objects[0] if root.objects else None
        if not root.is_users:
            return _in_call(thing) if root.kind is FrameType else _in_library(root)
        if len(way) == 1:
            return Named(f"`{root.label}`", _file_of(thing))
        name = way[1].label.removeprefix("local ").removeprefix(".")
        rest = "".join(one.label for one in way[2:])
        return Named(f"`{name}{rest}`", self._line(way, name, thing))

    def _line(self, way: list[Node], name: str, thing: Any) -> str | None:  # noqa: ANN401
        """The line that adds to it, if it is a container; else the one that sets it."""
        place, filename = _place_of_root(name, thing)
        held = way[-1]
        owner = way[-2].kind
        file = file_of(owner) if len(way) > 2 and held.label.startswith(".") else None  # noqa: PLR2004
        if file is not None and is_users(file):
            place = ContainerPlace("attribute", held.label[1:], qualname_of(owner))
            filename = file
        elif len(way) > 2:  # noqa: PLR2004
            held = way[1]
        if filename is None:
            return None
        self._read(filename)
        is_container = held.kind in OPEN
        added = self._sources.growth_sites(place, filename) if is_container else ()
        found = added[0].where if added else self._sources.bound_at(place, filename)
        return found or (line_of(thing) if type(thing) is FrameType else shown(filename))

    def _read(self, filename: str) -> None:
        if filename in self._known:
            return
        self._known.add(filename)
        try:
            with open(filename, "rb") as file:
                source = file.read()
        except OSError:
            # A cell of a notebook; not by `getlines`, which would fill the cache.
            entry = linecache.cache.get(filename)
            lines = entry[2] if entry is not None and len(entry) > 2 else []  # noqa: PLR2004
            source = "".join(lines).encode()
        self._sources.add(filename, source, shown(filename))


def _place_of_root(name: str, thing: Any) -> tuple[ContainerPlace, str | None]:  # noqa: ANN401
    if type(thing) is FrameType:
        code = thing.f_code
        return ContainerPlace("local", name, code.co_qualname), code.co_filename
    return ContainerPlace("global", name), _file_of(thing, as_shown=False)


def _file_of(thing: Any, *, as_shown: bool = True) -> str | None:  # noqa: ANN401
    if not issubclass(type(thing), ModuleType):
        return line_of(thing) if type(thing) is FrameType else None
    path = namespace(thing).get("__file__")
    if type(path) is not str:
        return None
    return shown(path) if as_shown else path


def _in_call(frame: Any) -> Named:  # noqa: ANN401
    """A library's function that runs: known by the line of the program that has called it."""
    outer: FrameType | None = frame if type(frame) is FrameType else None
    called = outer
    while outer is not None and not is_users(outer.f_code.co_filename):
        called, outer = outer, outer.f_back
    if called is None:
        return Named(LIBRARIES)
    return Named(f"call of {called.f_code.co_qualname}()", line_of(outer) if outer else None)


def _in_library(root: Node) -> Named:
    package = package_of(root.label)
    # Functions and classes of all libraries share one root.
    is_package = bool(package) and " " not in package
    return Named(f"inside {package}" if is_package else "inside a library")
