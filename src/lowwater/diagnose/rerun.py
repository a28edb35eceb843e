"""Runs the program in a clean process with one thing changed, or finds that it was done before."""

import hashlib
import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import asdict, astuple, dataclass, field, replace
from functools import partial
from typing import Any, BinaryIO, Final, Protocol, Self, TypeAlias

from lowwater.diagnose.cuts import Cuts
from lowwater.diagnose.last_words import last_words, tail
from lowwater.diagnose.private_files import new_private_file
from lowwater.diagnose.run_guard import RunGuard
from lowwater.diagnose.writes import Listing, Writes, facts_of
from lowwater.errors import UnreadableInput
from lowwater.model import Diagnosis, Ending, Note, Topic
from lowwater.model.assignment import Assignment
from lowwater.model.units import format_duration
from lowwater.recording.reader import load
from lowwater.recording.records import FactsTold, Noted
from lowwater.recording.writer import append_after_end
from lowwater.supervisor.launch import launch
from lowwater.supervisor.progress import Line
from lowwater.supervisor.session import diagnose, watch
from lowwater.supervisor.signals import held_back

_STOPPED: Final = frozenset({signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
_LONGEST_NAME = 60
_LAST_LINES = 20
_NO_TIME = "because no time was left (--budget)"
# The key of a factor, and what it is told.
ChangeWanted: TypeAlias = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Program:
    """What is run, and where the recordings of its runs are kept."""

    target: str
    arguments: list[str]
    is_module: bool
    recordings: str
    # What `DeviceSettings.to_plain` made.
    devices: dict[str, Any] | None = None

    def target_in(self, folder: str | None) -> str:
        """The script as it is called in a copy of the present folder: the copied one, if it was."""
        if folder is None or self.is_module:
            return self.target
        path, here = os.path.abspath(self.target), os.path.join(os.getcwd(), "")
        return path.removeprefix(here)


class RunPlaces(Protocol):
    """Where runs are made."""

    def __call__(self) -> AbstractContextManager[str | None]:
        """The folder of the next run; None is the present one."""

    def saw(self, writes: Writes) -> None:
        """Take note of what the program as it is has written."""


@dataclass(frozen=True, slots=True)
class RunOrder:
    """One run that is wanted: how much of the program, and with which changes."""

    cuts: Cuts
    changes: tuple[ChangeWanted, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def file_name(self) -> str:
        """The same for the same order."""
        told = " ".join(part for change in self.changes for part in change)
        name = re.sub(r"\W+", "-", told.strip() or "base")
        exact = repr((self.changes, astuple(self.cuts)))
        digest = hashlib.sha256(exact.encode(errors="surrogateescape")).hexdigest()
        return f"{name[:_LONGEST_NAME]}-{digest[:8]}"


@dataclass(frozen=True, slots=True)
class Ran:
    """A run to be judged; `output` is where all that it wrote is kept."""

    diagnosis: Diagnosis
    recording: str
    output: str
    is_earlier: bool = False

    @property
    def has_failed(self) -> bool:
        """Whether the program says so by its end."""
        ending = self.diagnosis.ending
        return ending is not None and bool(ending.exit_code or ending.signal)

    @property
    def last_words(self) -> str:
        """What a program that failed has said at its end."""
        return last_words(self.output) if self.has_failed else ""

    @property
    def last_lines(self) -> tuple[str, ...]:
        """The end of what it wrote."""
        return tuple(tail(self.output)[-_LAST_LINES:])


class Reruns:
    """All runs of one program; those that were made to their end are not made again."""

    def __init__(
        self,
        program: Program,
        places: RunPlaces,
        guard: RunGuard,
        budget_s: float | None = None,
        line: Line | None = None,
    ) -> None:
        """Nothing is run yet; `line` shows how far the present run is."""
        self._program = program
        self._places = places
        self._guard = guard
        self._ends_s = None if budget_s is None else time.monotonic() + budget_s
        self._line = line

    @property
    def left_s(self) -> float:
        """What is left of the budget."""
        return float("inf") if self._ends_s is None else self._ends_s - time.monotonic()

    def run(self, order: RunOrder, longest_s: float, *, again: bool = False) -> Ran:
        """Once, for so long at most; a hanging program is ended, and judged by what was seen.

        With `again` also where it was made before.
        """
        recording = os.path.join(self._program.recordings, f"{order.file_name}.lw")
        output = f"{recording}.txt"
        earlier = None if again else _finished(recording)
        diagnosis = earlier or self._run(order, recording, output, longest_s)
        if not order.changes:
            self._places.saw(Writes.of(diagnosis.facts, self._program.recordings))
        kept = recording if os.path.exists(recording) else _set_aside(recording)
        return Ran(diagnosis, kept, output, is_earlier=earlier is not None)

    def _run(self, order: RunOrder, recording: str, output: str, longest_s: float) -> Diagnosis:
        _remove(_set_aside(recording))
        # Before any thread is started: one that does not hold them would take them.
        with (
            self._places() as folder,
            open(new_private_file(output), "wb") as written,
            held_back(),
        ):
            before = None if order.changes else Listing(folder or os.getcwd())
            child = self._launched(order, recording, folder, written)
            try:
                with _TimeLimit(child, min(longest_s, max(0.0, self.left_s))) as limit:
                    diagnosis, outcome = watch(child, recording, self._line)
            finally:
                self._guard.end_all()
            if before is not None:
                diagnosis = _with_writes(diagnosis, recording, before, folder)
        if outcome.was_stopped or _was_stopped(diagnosis.ending):
            # The user's Ctrl-C is meant for all of them.
            _remove(recording)
            raise KeyboardInterrupt
        if not limit.was_reached:
            return diagnosis
        is_last = self.left_s <= 0
        why = _NO_TIME if is_last else f"after {format_duration(longest_s)}"
        ended_us = outcome.ended.elapsed_us
        append_after_end(recording, [Noted(ended_us, why, Topic.ENDED_BY_US)])
        if is_last:
            os.replace(recording, _set_aside(recording))
        note = Note(ended_us / 1e6, why, Topic.ENDED_BY_US)
        return replace(
            diagnosis,
            notes=(*diagnosis.notes, str(note)),
            of_experiment=(*diagnosis.of_experiment, note),
        )

    def _launched(
        self, order: RunOrder, recording: str, folder: str | None, written: BinaryIO
    ) -> "subprocess.Popen[bytes]":
        """What it writes is not shown: it would come many times."""
        experiment = {"changes": order.changes, "cuts": asdict(order.cuts)}
        program = self._program
        assignment = Assignment(
            program.target_in(folder),
            program.arguments,
            program.is_module,
            recording,
            experiment=experiment,
            devices=program.devices,
        )
        # As a shell would have it: programs ask it for the folder that they are in.
        moved = {} if folder is None else {"PWD": folder}
        return self._guard.start(
            partial(
                launch,
                assignment,
                {**order.environment, **moved},
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=written,
                stderr=subprocess.STDOUT,
            )
        )


def _with_writes(
    diagnosis: Diagnosis, recording: str, before: Listing, folder: str | None
) -> Diagnosis:
    """What has changed in its folder is kept with the run: it may not be made again."""
    facts = facts_of(before, Listing(folder or os.getcwd()), diagnosis.facts)
    append_after_end(recording, [FactsTold(facts)])
    return replace(diagnosis, facts={**diagnosis.facts, **facts})


class _TimeLimit:
    """Kills a process that takes too long; what was seen until then is judged."""

    def __init__(self, child: "subprocess.Popen[bytes]", seconds: float) -> None:
        self.was_reached = False
        self._child = child
        # A timer takes no more than the seconds of an age.
        self._timer = threading.Timer(min(seconds, threading.TIMEOUT_MAX), self._end)

    def __enter__(self) -> Self:
        self._timer.daemon = True
        self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()

    def _end(self) -> None:
        self.was_reached = True
        self._child.kill()


def _finished(recording: str) -> Diagnosis | None:
    """What an earlier diagnosis has recorded to the end."""
    try:
        timeline = load(recording) if os.path.exists(recording) else None
    except UnreadableInput:
        return None
    if timeline is None or timeline.ending is None or _was_stopped(timeline.ending):
        return None
    return diagnose(timeline)


def _was_stopped(ending: Ending | None) -> bool:
    """Whether somebody did not want to wait for the end."""
    return ending is not None and ending.signal in _STOPPED


def _set_aside(recording: str) -> str:
    """Where a run is kept that had no time to end: the next diagnosis makes it again."""
    return f"{recording}.cut"


def _remove(path: str) -> None:
    with suppress(FileNotFoundError):
        os.remove(path)
