"""What the supervisor hands to the agent."""

import json
import os
import shlex
from dataclasses import asdict, dataclass
from typing import Any

STDIN = "-"


@dataclass(frozen=True, slots=True)
class Assignment:
    """What the supervisor asks for: a program, and where to record it.

    `descriptor` is that of the recording, which is open already; None where nothing can be
    recorded.
    """

    target: str
    arguments: list[str]
    is_module: bool
    recording: str = ""
    is_mended: bool = False
    experiment: "dict[str, Any] | None" = None
    descriptor: int | None = None
    # What `DeviceSettings.to_plain` made.
    devices: "dict[str, Any] | None" = None
    # When the supervisor began by the clock that both have: what each of them sees is compared.
    began_s: float | None = None

    # "stop" ends the training of `fit` before memory runs out; "raise" other loops as well.
    guard: str = ""

    def to_text(self) -> str:
        """For the agent; no letter of it needs more than a byte."""
        return json.dumps(asdict(self))

    @classmethod
    def from_text(cls, text: str) -> "Assignment":
        """What `to_text` wrote."""
        return cls(**json.loads(text))

    @classmethod
    def received(cls, given: str) -> "Assignment":
        """Read what stands in the file of this number, and close it, or in the text itself."""
        if not given.isdecimal():
            return cls.from_text(given)
        with open(int(given), encoding="ascii") as file:
            return cls.from_text(file.read())

    @property
    def command(self) -> str:
        """The program as it stands behind `lowwater run`, without its arguments."""
        return shlex.join(["-m", self.target] if self.is_module else [self.target])

    @property
    def has_own_folder(self) -> bool:
        """Whether the program is a file, whose folder is its own."""
        return not self.is_module and self.target != STDIN

    @property
    def folder(self) -> str:
        """The script's folder, by which files are called in the report."""
        if not self.has_own_folder:
            return os.getcwd()
        real = os.path.realpath(self.target)
        return real if os.path.isdir(real) else os.path.dirname(real)

    @property
    def root(self) -> str:
        """The folder below which modules are the user's own, unless they were installed.

        Packages of a project lie beside the folder of its scripts, or where it is run from.
        """
        here, beside = os.path.realpath(os.getcwd()), os.path.dirname(self.folder)
        if not self.has_own_folder or self.folder.startswith(os.path.join(here, "")):
            return here
        return beside if beside != os.path.dirname(beside) else self.folder
