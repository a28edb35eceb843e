"""Starts the watched program in a child process. Imports next to nothing: the user waits."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from lowwater.assignment import Assignment

# The child forgets the folder that `-c` puts on the path: the program's own comes instead.
_BOOT = """\
import sys
if not sys.flags.safe_path:
    del sys.path[0]
from lowwater.agent import main
main(sys.argv.pop())
"""


def launch(
    assignment: Assignment,
    environment: Mapping[str, str] | None = None,
    **options: Any,  # noqa: ANN401 - those of Popen
) -> "subprocess.Popen[bytes]":
    """Start the program with the agent inside, under the flags of this very interpreter."""
    flags = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]  # noqa: SLF001
    command = [sys.executable, *flags, "-c", _BOOT, assignment.to_text()]
    variables = {**os.environ, **environment} if environment else None
    return subprocess.Popen(command, env=variables, **options)  # noqa: S603


@contextmanager
def recording_at(path: str | None) -> Iterator[str]:
    """The place of the recording: the user's, or a temporary one that is removed."""
    if path is not None:
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="lowwater-") as folder:
        yield os.path.join(folder, "run.lw")
