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


class NamedHolder(NamedTuple):
    """A holder in words; those with the same words are told apart by the path to them."""

    held_by: str
    path: int = 0


class HolderNames:
    """Names holders; reads each file of the program once, and only if a line is asked for."""

    def __init__(self) -> None:
        """No file was read yet."""
        self._sources = Sources()
        self._known: set[str] = set()
        self._ways: dict[NamedHolder, list[Node]] = {}

    def of(self, node: Node) -> NamedHolder:
        """Who holds what lies on this path: the variable, with the names that follow it."""
        way = [*node.path_up()][::-1]
        root = way[0]
        if not root.is_users and root.kind is not FrameType:
            return _in_library(root)
        labels = 1
        while root.is_users and labels < len(way) and way[labels].label:
            labels += 1
        way = way[:labels]
        holder = NamedHolder(_words(way), way[-1].key)
        self._ways.setdefault(holder, way)
        return holder

    def line(self, holder: NamedHolder) -> str | None:
        """The line that sets the variable, or adds to it; None where it is not known."""
        way = self._ways.get(holder)
        if way is None or not way[0].objects:
            return None
        thing = way[0].objects[0]
        if not way[0].is_users:
            caller = _called_by(thing)[1]
            return line_of(caller) if caller is not None else None
        if len(way) == 1:
            return _file_of(thing)
        return self._line(way, _name(way[1]), thing)

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


def _words(way: list[Node]) -> str:
    root = way[0]
    if not root.is_users:
        called = _called_by(root.objects[0])[0]
        return f"call of {called.f_code.co_qualname}()"
    if len(way) == 1:
        return f"`{root.label}`"
    return f"`{_name(way[1])}{''.join(one.label for one in way[2:])}`"


def _name(node: Node) -> str:
    return node.label.removeprefix("local ").removeprefix(".")


def _called_by(frame: FrameType) -> tuple[FrameType, FrameType | None]:
    """What the program has called of a library, and the frame of the program; if there is one."""
    called, outer = frame, frame.f_back
    while outer is not None and not is_users(outer.f_code.co_filename):
        called, outer = outer, outer.f_back
    return called, outer


def _in_library(root: Node) -> NamedHolder:
    package = package_of(root.label)
    # Functions and classes of all libraries share one root.
    is_package = bool(package) and " " not in package
    return NamedHolder(f"inside {package}" if is_package else "inside a library")
