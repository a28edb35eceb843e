"""The variables by which a program comes to its objects: of its calls, and of its modules."""

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from types import FrameType
from typing import Any

from lowwater.agent.census.kinds import qualname_of
from lowwater.agent.census.roots import modules_now, namespace, variables_of
from lowwater.giveback.code_flow import is_function
from lowwater.giveback.frames import line_of, shown
from lowwater.model.user_code import is_users

# What IPython calls the results of cells.
_OUTPUT = re.compile(r"_|_\d+|Out|_oh")
_DROPS_OUTPUTS = "lowwater.release(notebook=True) drops it"


@dataclass(frozen=True, slots=True)
class Root:
    """A variable: its value, and in words where it is found.

    `lives` is why the place of the variable still exists. `needed` is why the program still
    wants the value, where that is known.
    """

    name: str
    value: Any
    held_by: str
    where: str | None = None
    place: str = ""
    lives: str = ""
    needed: str = ""
    is_local: bool = False

    @property
    def edge(self) -> str:
        """How the place refers to the value."""
        if not self.name:
            return ""
        return f"local {self.name}" if self.is_local else f".{self.name}"


def roots_now() -> Iterator[Root]:
    """The locals of every call of the program, then what is being handled, then its modules."""
    yield from _locals()
    yield from _handled()
    yield from _of_modules()


def frames_of_all_threads() -> Iterator[FrameType]:
    """Every call that runs now, ours among them."""
    for innermost in [*sys._current_frames().values()]:  # noqa: SLF001 - documented
        frame: FrameType | None = innermost
        while frame is not None:
            yield frame
            frame = frame.f_back


def is_in_notebook() -> bool:
    """Whether IPython runs the program."""
    return getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)() is not None


def _locals() -> Iterator[Root]:
    for frame in frames_of_all_threads():
        if not is_function(frame.f_code) or not is_users(frame.f_code.co_filename):
            continue
        where, call = line_of(frame), f"{frame.f_code.co_qualname}()"
        for name, value in variables_of(frame).items():
            told = f"`{name}` is still a local of `{call}`, {where}"
            yield Root(name, value, told, where, call, "the call is running", is_local=True)


def _handled() -> Iterator[Root]:
    """The exception in whose `except` block we were called: it need not have a name."""
    error = sys.exc_info()[1]
    if error is not None:
        told = f"the `{qualname_of(type(error))}` that is being handled"
        yield Root("", error, told, None, told, "the `except` block has not ended")


def _of_modules() -> Iterator[Root]:
    for module in modules_now(is_users, "lowwater").users:
        space = namespace(module)
        called, path = space.get("__name__"), space.get("__file__")
        file = shown(path) if isinstance(path, str) else None
        at = f", {file}" if file else ""
        for name, value in [*space.items()]:
            if type(name) is str and not name.startswith("__"):
                told = f"`{name}` is still a variable of module `{called}`{at}"
                if called == "__main__" and _OUTPUT.fullmatch(name) and is_in_notebook():
                    told = f"`{name}` is an output that the notebook keeps; {_DROPS_OUTPUTS}"
                lives = "a module lives as long as the program"
                yield Root(name, value, told, file, f"module {called}", lives)
