"""What the system says of a process that holds memory, seen from outside."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from lowwater.model.measured import NotMeasured
from lowwater.model.printable import one_line

# The command line of the process that isolated calls are forked from has this line, and a fork
# keeps the command line. So whoever may see a process can see that it makes such a call.
ISOLATED: Final = "from lowwater.isolation.local.server import main"
_CALLER: Final = re.compile(rf"^{re.escape(ISOLATED)}\nmain\((\d+), ", re.MULTILINE)
_KERNELS: Final = {"ipykernel", "ipykernel_launcher"}
_PYTHON: Final = re.compile(r"(python|pypy)[\d.]*")


@dataclass(frozen=True, slots=True)
class Process:
    """One process at one moment. `began_s` tells it from a later one with the same number.

    `cpu_s` is the processor time of the process and of all below it: one that waits for its
    workers is not idle.
    """

    pid: int
    began_s: float
    age_s: float
    user: str | NotMeasured
    is_own_user: bool | NotMeasured
    arguments: tuple[str, ...] | NotMeasured
    is_parent_gone: bool | NotMeasured
    cpu_s: float | NotMeasured

    @property
    def command(self) -> str | NotMeasured:
        """Its command line for people: printable, on one line, files without their folders."""
        if isinstance(self.arguments, NotMeasured):
            return self.arguments
        return one_line(" ".join(map(_without_folder, self.arguments)))

    @property
    def caller(self) -> int | None:
        """The process whose isolated call this one makes; None where it makes none."""
        if isinstance(self.arguments, NotMeasured) or "-c" not in self.arguments:
            return None
        found = _CALLER.search(self.arguments[-1])
        return int(found[1]) if found else None

    @property
    def is_kernel(self) -> bool:
        """Whether it is the kernel of a notebook."""
        return not isinstance(self.arguments, NotMeasured) and _is_kernel(self.arguments)


def _is_kernel(arguments: Sequence[str]) -> bool:
    """By the module that Python runs, or by the file of that module."""
    if not arguments or not _PYTHON.match(_last(arguments[0])):
        return False
    for flag, name in pairwise(arguments):
        if flag == "-m":
            return name.split(".")[0] in _KERNELS
    script = next((one for one in arguments[1:] if not one.startswith("-")), "")
    return _last(script).removesuffix(".py") in _KERNELS


def _without_folder(argument: str) -> str:
    """`/usr/bin/python3` -> `python3`; `--out=/tmp/a` and code stay as they are."""
    is_path = argument.startswith(("/", "./", "../", "~/")) and not re.search(r"\s", argument)
    return (_last(argument) or argument) if is_path else argument


def _last(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2]
