"""Where the runs of a diagnosis are made: here, or each in a copy of this folder."""

import os
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import click

from lowwater.cli._output import say
from lowwater.diagnose.sandbox import sandboxes
from lowwater.diagnose.writes import MOST_NAMED, Writes
from lowwater.diagnose.written_files import writes_files
from lowwater.errors import UsageError
from lowwater.model.printable import one_line

_SEEMS = "The program runs several times and seems to write files: each run writes them again."
_IN_COPIES = "each run uses its own copy of this folder. Use --yes to run here."
_NO_HELP = "note: These files are outside this folder, so every run writes them again:"
_MOST_SHOWN = 3


class Places:
    """Asks once: before the first run if the source looks like writing, or when one has written.

    Where nobody can be asked, runs are made in copies from then on.
    """

    def __init__(self, *, sandbox: bool, is_agreed: bool) -> None:
        """Nothing was run yet; with `sandbox` all are copies, and with `is_agreed` none."""
        self._copies = sandboxes() if sandbox else None
        self._is_agreed = is_agreed
        self._is_settled = sandbox
        self._is_told = False
        self._writes = Writes()
        self.paused: Callable[[], AbstractContextManager[None]] = nullcontext

    def guess(self, source: Path) -> None:
        """By its source: the first run may be one too many, for it is cut short."""
        if not self._is_settled and writes_files(source):
            self._settle(_SEEMS, "nothing was run")

    def saw(self, writes: Writes) -> None:
        """What the program as it is has written; it matters if there is another run."""
        self._writes = writes

    def __call__(self) -> AbstractContextManager[str | None]:
        """The folder of the next run."""
        if self._writes and not self._is_settled:
            self._settle(_wrote(self._writes), "stopped after the first run")
        if self._copies is None:
            return nullcontext(None)
        if self._writes.outside and not self._is_told:
            self._is_told = True
            say(f"{_NO_HELP} {_named(self._writes.outside)}.", err=True)
        return self._copies()

    def _settle(self, what: str, otherwise: str) -> None:
        self._is_settled = True
        if not self._is_agreed and not sys.stdin.isatty():
            self._copies = sandboxes()
            say(f"note: {what} This is not a terminal, so {_IN_COPIES}", err=True)
            return
        say(f"warning: {what} With --sandbox, {_IN_COPIES}", err=True)
        if not self._is_agreed and not self._is_wanted_here():
            raise UsageError(otherwise, advice="lowwater diagnose --sandbox …")

    def _is_wanted_here(self) -> bool:
        with self.paused():
            return click.confirm("Continue in this folder?", err=True)


def _wrote(writes: Writes) -> str:
    names = (*writes.inside, *writes.outside)
    count = f"{len(names):,}" if len(names) < MOST_NAMED else f"{MOST_NAMED} or more"
    files = f"{count} file" if len(names) == 1 else f"{count} files"
    return f"The program wrote {files} ({_named(names)}). Each further run writes them again."


def _named(names: Sequence[str]) -> str:
    shown = [one_line(os.fsencode(name).decode(errors="replace")) for name in names[:_MOST_SHOWN]]
    return ", ".join([*shown, "…"] if len(names) > _MOST_SHOWN else shown)
