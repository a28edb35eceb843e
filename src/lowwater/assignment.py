"""What the supervisor hands to the agent."""

import json
import os
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Assignment:
    """What the supervisor asks for: a program, and where to record it."""

    target: str
    arguments: list[str]
    is_module: bool
    recording: str
    is_mended: bool = False
    experiment: "dict[str, Any] | None" = None

    def to_text(self) -> str:
        """For the agent's command line."""
        return json.dumps(asdict(self))

    @classmethod
    def from_text(cls, text: str) -> "Assignment":
        """What `to_text` wrote."""
        return cls(**json.loads(text))

    @property
    def command(self) -> str:
        """The program as it stands behind `lowwater run`, without its arguments."""
        import shlex  # not needed in every run, and not free

        return shlex.join(["-m", self.target] if self.is_module else [self.target])

    @property
    def folder(self) -> str:
        """The script's folder, by which files are called in the report."""
        return os.path.dirname(os.path.realpath(self.target)) if not self.is_module else os.getcwd()

    @property
    def root(self) -> str:
        """The folder below which modules are the user's own, unless they were installed.

        Packages of a project lie beside the folder of its scripts, or where it is run from.
        """
        here, beside = os.path.realpath(os.getcwd()), os.path.dirname(self.folder)
        if self.is_module or self.folder.startswith(os.path.join(here, "")):
            return here
        return beside if beside != os.path.dirname(beside) else self.folder
