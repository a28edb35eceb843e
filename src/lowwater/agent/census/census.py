"""One look at all objects of the program; compared with the looks before, it names holders."""

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType, FunctionType, ModuleType
from typing import Any

from lowwater.agent.census.budget import Budget, Cut
from lowwater.agent.census.co_holders import split_fairly
from lowwater.agent.census.describe import type_name
from lowwater.agent.census.edges import is_name
from lowwater.agent.census.growth import Summary, compare, is_data, summarise, with_new_things
from lowwater.agent.census.growth_site import Sources
from lowwater.agent.census.kinds import module_of
from lowwater.agent.census.leak_trace import Tracer
from lowwater.agent.census.library_values import LibraryValues, has_parts, values_of
from lowwater.agent.census.nodes import Node
from lowwater.agent.census.references import References, thread_locals
from lowwater.agent.census.roots import frames_now, modules_now, namespace, variables_of
from lowwater.agent.census.sizes import Sizes
from lowwater.agent.census.walk import Walk
from lowwater.model import Holder
from lowwater.model.policy import POLICY
from lowwater.model.user_code import is_own

_OUR_NAME = "lowwater"
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
    """

    def __init__(self, sources: Sources) -> None:
        """`sources` knows the files of the program."""
        self._sources = sources
        self._earlier: list[Summary] = []
        self._left_out: frozenset[int] = frozenset()
        self._cut: Cut | None = None

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
    ) -> Seen:
        """Walk, compare, and let go; `look_at` is shown all objects of the wanted types."""
        with _collector_off():
            for _ in range(_TRIES):
                look = _Look(self._sources, wanted, budget or Budget(), self._left_out)
                try:
                    look.walk_program()
                    if not self._is_explained(look, in_use_bytes):
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

    def _is_explained(self, look: "_Look", in_use_bytes: int) -> bool:
        """Whether data that the program keeps accounts for the growth: then libraries do not.

        Their objects are nine in ten. But a model or a function may be held by a library, too.
        """
        if not self._earlier or look.cut is not None or self._left_out:
            return False
        growth_bytes = in_use_bytes - self._earlier[0].in_use_bytes
        suspects, _ = compare(look.roots, self._earlier, in_use_bytes)
        kept_bytes = sum(suspect.grown_bytes for suspect in suspects if is_data(suspect))
        return kept_bytes >= (1 - POLICY.least_share) * growth_bytes > 0

    def _can_be_kept(self, look: "_Look") -> bool:
        """Whether it tells something: beside those before it, or to those to come."""
        if look.is_broken or look.left_out != self._left_out:
            if len(self._earlier) >= _ENOUGH:
                return False
            self._earlier.clear()
            self._left_out = look.left_out
        return not look.is_broken

    def _compared(self, look: "_Look", in_use_bytes: int) -> Found:
        holders: tuple[Holder, ...] = ()
        starts_over = not self._earlier
        if self._earlier:
            suspects, longer = compare(look.roots, self._earlier, in_use_bytes)
            found = split_fairly(suspects, longer, look.references, look.room_bytes)
            found = found[:_MOST_HOLDERS]
            known = {id(suspect.node) for suspect in found}
            found += [one for one in with_new_things(longer) if id(one.node) not in known]
            tracer = look.tracer(self._earlier[-1])
            told = map(tracer.holder, found)
            # More functions and classes of libraries than before: modules were loaded.
            holders = tuple(holder for holder in told if holder.container >= 0)
        self._earlier.append(summarise(look.roots, in_use_bytes))
        if not look.has_walked_libraries:
            return Found(holders, None, None, starts_over)
        sizes = look.sizes
        return Found(holders, sizes.total_bytes, sizes.large_bytes, starts_over)


class _Look:
    """One walk from all roots, in the order in which they may claim an object."""

    def __init__(
        self,
        sources: Sources,
        wanted: Callable[[type], bool],
        budget: Budget,
        left_out: frozenset[int],
    ) -> None:
        self._sources = sources
        self._modules = modules_now(sources.is_users, _OUR_NAME)
        self._of_libraries = values_of(self._modules.libraries)
        # Not a method of this object: that would be a cycle, and stay until the next collection.
        self._is_users = _is_from(self._modules.users_names)
        self.references = References(self._is_users)
        self._walk = Walk(
            Sizes(), self.references, _is_ours, self._is_users, wanted, budget, {*left_out}
        )
        self.roots: list[Node] = []
        self.has_walked_libraries = False
        # TensorFlow's default graph, say: every traced function refers to it.
        self._in_thread_locals = [*_in_thread_locals(self._of_libraries)]

    @property
    def objects(self) -> int:
        return len(self._walk.seen)

    @property
    def sizes(self) -> Sizes:
        return self._walk.sizes

    @property
    def objects_wanted(self) -> Sequence[Any]:
        return self._walk.found

    @property
    def cut(self) -> Cut | None:
        return self._walk.cut

    @property
    def is_broken(self) -> bool:
        return self._walk.is_broken

    @property
    def left_out(self) -> frozenset[int]:
        return frozenset(self._walk.left_out)

    @property
    def room_bytes(self) -> int | None:
        """What may be taken to compare, now that the walk is over."""
        return self._walk.budget.left_bytes(self._walk.held_bytes)

    def walk_program(self) -> None:
        """What a library names itself is the library's, even where the program refers to it."""
        modules = (*self._modules.users, *self._modules.libraries)
        self._walk.leave_out(modules)
        self._walk.leave_out(namespace(module) for module in modules)
        for values in (*self._of_libraries.data, self._of_libraries.code):
            self._walk.leave_out(values)
        self._walk.leave_out(self._in_thread_locals)
        self._enter_users()
        self._walk.run()
        self._enter_running_calls()
        self._walk.run()
        for root in self.roots:
            root.sum_up()

    def walk_libraries(self) -> None:
        """All else, after the program's own has been walked."""
        walked = len(self.roots)
        self._enter_libraries()
        self._walk.run()
        for root in self.roots[walked:]:
            root.sum_up()
        self.has_walked_libraries = True

    def tracer(self, latest: Summary) -> Tracer:
        return Tracer(self.references, self._sources, self._is_users, latest)

    def forget(self) -> None:
        for root in self.roots:
            root.forget()
        self.roots.clear()
        self._in_thread_locals.clear()
        self._of_libraries.forget()
        self.references.forget()
        self._walk.forget()

    def _enter_users(self) -> None:
        for module in self._modules.users:
            root = self._root(_name(module), module, is_users=True)
            for name, value in [*namespace(module).items()]:
                self._walk.enter(root, f".{name}" if is_name(name) else "", value)
        for frame in self._frames():
            if self._sources.is_users(frame.f_code.co_filename):
                self._enter_frame(frame, is_users=True)

    def _enter_running_calls(self) -> None:
        # The outermost first: `fit` says more to a reader than what runs inside it.
        for frame in reversed(self._frames()):
            if not self._sources.is_users(frame.f_code.co_filename):
                self._enter_frame(frame, is_users=False)

    def _enter_frame(self, frame: FrameType, *, is_users: bool) -> None:
        root = self._root(frame.f_code.co_qualname, frame, is_users=is_users)
        for name, value in variables_of(frame).items():
            self._walk.enter(root, f"local {name}", value)

    def _enter_libraries(self) -> None:
        self._walk.readmit(self._in_thread_locals)
        named = self._of_libraries
        for module, values in zip(self._modules.libraries, named.data, strict=True):
            root = self._root(_name(module), module, is_users=False)
            self._walk.enter_left_out(root, values)
        root = Node("functions and classes", list)
        root.objects = [named.code]
        self.roots.append(root)
        self._walk.enter_left_out(root, named.code)

    def _frames(self) -> list[FrameType]:
        return frames_now(is_own)

    def _root(self, label: str, thing: Any, *, is_users: bool) -> Node:  # noqa: ANN401
        # A function may run in two threads, or call itself: that is one root.
        alike = (root for root in self.roots if root.label == label and root.kind is type(thing))
        root = next(alike, None) if type(thing) is FrameType else None
        if root is None:
            root = Node(label, type(thing), is_users=is_users)
            self.roots.append(root)
        root.objects.append(thing)
        return root


def _is_from(names: frozenset[str]) -> Callable[[Any], bool]:
    """Whether a function or a class is from one of these modules."""

    def is_from(thing: Any) -> bool:  # noqa: ANN401
        module = thing.__module__ if type(thing) is FunctionType else module_of(thing)
        return type(module) is str and module in names

    return is_from


def _name(module: ModuleType) -> str:
    name = namespace(module).get("__name__")
    return name if type(name) is str else ""


def _in_thread_locals(named: LibraryValues) -> Iterator[Any]:
    """What libraries keep for each thread, as far as it is this one's."""
    for names in thread_locals(named.thread_locals):
        yield from [value for value in [*names.values()] if has_parts(value)]


def _is_ours(kind: type) -> bool:
    return type_name(kind).startswith(f"{_OUR_NAME}.")


@contextmanager
def _collector_off() -> Iterator[None]:
    """A walk makes a million objects that live for a second: the collector need not look."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
