"""Starts the watched program in a child process. Imports next to nothing: the user waits."""

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from lowwater.model.assignment import Assignment
from lowwater.recording.descriptors import out_of_the_way
from lowwater.recording.writer import start_recording
from lowwater.supervisor.signals import held_by_us

# The child forgets the folder that `-c` puts on the path: the program's own comes instead. Its
# signals, which we hold back from ourselves, are its own again before anything else happens.
_BOOT = """\
import _signal, sys
_signal.pthread_sigmask(_signal.SIG_UNBLOCK, {held!r})
if not sys.flags.safe_path:
    del sys.path[0]
loaded = frozenset(sys.modules)
from lowwater.agent.agent import main
main(sys.argv.pop(), loaded)
"""


class Launched(subprocess.Popen[bytes]):
    """A program that was launched, with the moment from which both sides count the time."""

    began_s: float


def launch(
    assignment: Assignment,
    environment: Mapping[str, str] | None = None,
    **options: Any,  # noqa: ANN401 - those of Popen
) -> Launched:
    """Start the program with the agent inside, under the flags of this very interpreter.

    It inherits the descriptors that we were given, as it would without us.
    """
    with contextlib.ExitStack() as lent:
        descriptor, began_s = _lend(lent, _started(assignment.recording)), time.perf_counter()
        assignment = replace(assignment, descriptor=descriptor, began_s=began_s)
        flags = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]  # noqa: SLF001
        boot = _BOOT.format(held={int(number) for number in held_by_us()})
        command = [sys.executable, *flags, "-c", boot, _in_a_file(lent, assignment.to_text())]
        variables = {**os.environ, **environment} if environment else None
        child = Launched(command, env=variables, close_fds=False, **options)
        child.began_s = began_s
        return child


def _started(recording: str) -> int | None:
    """None where nothing can be recorded: then the program runs unwatched."""
    try:
        return start_recording(recording)
    except OSError:
        return None


def _in_a_file(lent: contextlib.ExitStack, text: str) -> str:
    """The number of a file that holds the text: on a command line it might be too long."""
    try:
        descriptor = os.memfd_create("lowwater")
    except OSError:
        return text
    descriptor = out_of_the_way(descriptor)
    os.write(descriptor, text.encode())
    os.lseek(descriptor, 0, os.SEEK_SET)
    return str(_lend(lent, descriptor))


def _lend(lent: contextlib.ExitStack, descriptor: int | None) -> int | None:
    """Let the child inherit it; ours is closed when the child has its own."""
    if descriptor is not None:
        os.set_inheritable(descriptor, True)  # noqa: FBT003
        lent.callback(os.close, descriptor)
    return descriptor
