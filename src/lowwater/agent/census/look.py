"""One walk over all objects of the program, from its own variables first, then from libraries."""

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType, FunctionType, ModuleType
from typing import Any, Protocol

from lowwater.agent.census.budget import Budget, Cut
from lowwater.agent.census.describe import type_name
from lowwater.agent.census.edges import is_name
from lowwater.agent.census.kinds import module_of
from lowwater.agent.census.library_values import LibraryValues, has_parts, values_of
from lowwater.agent.census.nodes import Node
from lowwater.agent.census.references import References, thread_locals
from lowwater.agent.census.roots import frames_now, modules_now, namespace, variables_of
from lowwater.agent.census.sizes import Sizes
from lowwater.agent.census.walk import Walk
from lowwater.model.user_code import is_own

_OUR_NAME = "lowwater"


class Files(Protocol):
    """Knows which files are the program's own."""

    def is_users(self, filename: str) -> bool:
        """Whether the file is part of the user's program."""
        ...


class Look:
    """One walk from all roots, in the order in which they may claim an object."""

    def __init__(
        self,
        files: Files,
        wanted: Callable[[type], bool],
        budget: Budget,
        left_out: frozenset[int],
        failed: Sequence[FrameType] = (),
    ) -> None:
        """Get ready; `wanted` says of which types all objects are kept until `forget`.

        `failed` are frames that an exception has ended, and that still have their variables.
        """
        self._files = files
        self._failed = failed
        self._modules = modules_now(files.is_users, _OUR_NAME)
        self._of_libraries = values_of(self._modules.libraries)
        # Not a method of this object: that would be a cycle, and stay until the next collection.
        self.is_users_class = _is_from(self._modules.users_names)
        self.references = References(self.is_users_class)
        self._walk = Walk(
            Sizes(), self.references, _is_ours, self.is_users_class, wanted, budget, {*left_out}
        )
        self.roots: list[Node] = []
        self.has_walked_libraries = False
        # TensorFlow's default graph, say: every traced function refers to it.
        self._in_thread_locals = [*_in_thread_locals(self._of_libraries)]

    @property
    def objects(self) -> int:
        """How many objects were seen."""
        return len(self._walk.seen)

    @property
    def sizes(self) -> Sizes:
        """The sizes of all of them."""
        return self._walk.sizes

    @property
    def objects_wanted(self) -> Sequence[Any]:
        """All objects of the wanted types."""
        return self._walk.found

    @property
    def wanted_by_path(self) -> Iterator[tuple[Node, Sequence[Any]]]:
        """The same, with the path by which they were reached first."""
        start = 0
        for node, count in self._walk.found_at:
            yield node, self._walk.found[start : start + count]
            start += count

    @property
    def cut(self) -> Cut | None:
        """Why it did not reach all objects."""
        return self._walk.cut

    @property
    def is_broken(self) -> bool:
        """Whether a path was followed in part."""
        return self._walk.is_broken

    @property
    def left_out(self) -> frozenset[int]:
        """The paths that were not followed."""
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

    def forget(self) -> None:
        """Let go of all objects."""
        for root in self.roots:
            root.forget()
        self.roots.clear()
        self._in_thread_locals.clear()
        self._failed = ()
        self._of_libraries.forget()
        self.references.forget()
        self._walk.forget()

    def _enter_users(self) -> None:
        for module in self._modules.users:
            root = self._root(_name(module), module, is_users=True)
            for name, value in [*namespace(module).items()]:
                self._walk.enter(root, f".{name}" if is_name(name) else "", value)
        for frame in self._frames():
            if self._files.is_users(frame.f_code.co_filename):
                self._enter_frame(frame, is_users=True)

    def _enter_running_calls(self) -> None:
        # The outermost first: `fit` says more to a reader than what runs inside it.
        for frame in reversed(self._frames()):
            if not self._files.is_users(frame.f_code.co_filename):
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
        return [*self._failed, *frames_now(is_own)]

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
def collector_off() -> Iterator[None]:
    """A walk makes a million objects that live for a second: the collector need not look."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
