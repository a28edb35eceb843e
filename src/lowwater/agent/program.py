"""What the agent knows of the watched program: its files, its calls, and which objects live."""

from collections.abc import Mapping
from typing import NamedTuple

from lowwater.agent.instrumentation.calls import Calls
from lowwater.agent.instrumentation.lifecycles import LifecycleProbe, Lives, about_dataset
from lowwater.agent.instrumentation.loops import shown_path
from lowwater.model.tallies import DATASETS, MODEL, MODELS, SESSIONS


class LoadedFile(NamedTuple):
    """A file of the program as it was when it was loaded, and how reports call it."""

    source: bytes
    shown: str


class WatchedProgram:
    """Fills up while the program runs; refers to none of its objects but weakly."""

    def __init__(self, folder: str, root: str) -> None:
        """`folder` is the script's, and `root` holds all that is the user's own."""
        self._folder = folder
        self.root = root
        self.files: dict[str, LoadedFile] = {}
        self.calls = Calls(self.files.__contains__)
        self.models = Lives(self.calls, counted_as=MODEL)
        self.sessions = Lives(self.calls)
        self.datasets = Lives(self.calls, about_dataset)

    @property
    def lives(self) -> Mapping[str, Lives]:
        """The objects that are counted one by one, by their kind."""
        return {MODELS: self.models, SESSIONS: self.sessions, DATASETS: self.datasets}

    @property
    def lifecycle_probe(self) -> LifecycleProbe:
        """The probe that tells how many models and sessions live."""
        return LifecycleProbe(self.models, self.sessions)

    def load(self, filename: str, source: bytes) -> LoadedFile:
        """Take note of a file that the program is about to run."""
        self.files[filename] = file = LoadedFile(source, self.shown(filename))
        return file

    def shown(self, filename: str) -> str:
        """How reports call a file."""
        return shown_path(filename, self._folder, self.root)

    def shown_files(self) -> dict[str, str]:
        """The files of the program that were loaded, and how reports call them."""
        return {filename: file.shown for filename, file in self.files.items()}
