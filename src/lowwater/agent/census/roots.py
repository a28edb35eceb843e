"""Where a walk begins: the program's own modules and frames first, the libraries after them."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from types import FrameType, ModuleType
from typing import Any

# A function keeps its variables in the frame itself, not in a dictionary.
_HAS_FAST_LOCALS = 0x1
# `frame.f_locals` is a view since this version; before, it is a copy that stays in the frame.
_LOCALS_ARE_A_VIEW = sys.version_info >= (3, 13)
# The frame's own reference, ours, and the argument of `getrefcount`.
_NOBODY_ELSE = 3


@dataclass(frozen=True, slots=True)
class Modules:
    """The modules of the process, sorted into the program's own and the libraries'."""

    users: tuple[ModuleType, ...]
    libraries: tuple[ModuleType, ...]

    @property
    def users_names(self) -> frozenset[str]:
        """What the classes and functions of the program give as their `__module__`."""
        names = (namespace(module).get("__name__") for module in self.users)
        return frozenset(name for name in names if type(name) is str)


def modules_now(is_users: Callable[[str], bool], our_name: str) -> Modules:
    """Sort all modules, each once however many names it has; ours are in neither."""
    users: dict[int, ModuleType] = {}
    libraries: dict[int, ModuleType] = {}
    # Somebody may import in another thread: not a live view of the dictionary.
    for name, module in [*sys.modules.items()]:
        # Some put other things there; and `isinstance` would ask a lazy module what it is.
        if not issubclass(type(module), ModuleType) or type(name) is not str:
            continue
        if name == our_name or name.startswith(f"{our_name}."):
            continue
        filename = namespace(module).get("__file__")
        is_own = name == "__main__" or (type(filename) is str and is_users(filename))
        # `multiprocessing` files the program's module a second time, as `__mp_main__`.
        (users if is_own else libraries).setdefault(id(module), module)
    return Modules(tuple(users.values()), tuple(libraries.values()))


_namespace: Callable[[ModuleType], dict[str, Any] | None] = vars(ModuleType)["__dict__"].__get__


def namespace(module: ModuleType) -> dict[str, Any]:
    """The names of a module, past whatever a lazy one does when it is asked."""
    return _namespace(module) or {}  # a module may not have been initialised


def frames_now(is_ours: Callable[[str], bool]) -> list[FrameType]:
    """All frames of all threads that run a function, the innermost first."""
    found: list[FrameType] = []
    for innermost in sys._current_frames().values():  # noqa: SLF001 - documented, in spite of it
        frame: FrameType | None = innermost
        while frame is not None:
            if frame.f_code.co_flags & _HAS_FAST_LOCALS and not is_ours(frame.f_code.co_filename):
                found.append(frame)
            frame = frame.f_back
    # One of them is the frame of this very function: it would hold itself, as a cycle.
    del innermost
    return found


def variables_of(frame: FrameType) -> dict[str, Any]:
    """The local variables of a running function, read without leaving a copy behind.

    Up to Python 3.12 the copy would stay in the frame, and keep alive what the function drops.
    It is emptied, unless the program has asked for it too and still holds it.
    """
    found = frame.f_locals
    variables = dict(found)
    if not _LOCALS_ARE_A_VIEW and sys.getrefcount(found) <= _NOBODY_ELSE:
        found.clear()
    return variables
