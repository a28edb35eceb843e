"""What the supervisor hands to the agent."""

import json
import os
from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True)
class Assignment:
    """What the supervisor asks for: a program, and where to record it."""

    target: str
    arguments: list[str]
    is_module: bool
    recording: str

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
    def root(self) -> str:
        """The folder whose modules are the user's own.

        `python scripts/train.py` is run from the project's folder, where its packages lie too.
        """
        folder = os.path.dirname(os.path.realpath(self.target))
        here = os.path.realpath(os.getcwd())
        is_project = folder.startswith(os.path.join(here, ""))
        return here if self.is_module or is_project else folder
