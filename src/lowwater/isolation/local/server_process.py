"""The caller's handle on the process that its trials are forked from."""

import atexit
import contextlib
import fcntl
import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from typing import Any

from lowwater.errors import ChildDied
from lowwater.isolation.local.channel import Channel
from lowwater.isolation.local.preloads import frameworks_here, settings_here
from lowwater.isolation.parcel import nameless_file
from lowwater.model.processes import ISOLATED

# It sees the modules that the caller sees; the rest it is told through the channel. By its last
# two lines, `model/processes.py` knows the server, and all that is forked from it, from outside.
_BOOT = f"""\
import sys
sys.path[:] = {{path!r}}
{ISOLATED}
main({{caller}}, {{descriptor}}, {{names!r}})
"""
_LONGEST_END_S = 10


class ServerProcess:
    """One running server, with what it has imported and the settings that it was given."""

    def __init__(self, names: Sequence[str]) -> None:
        """Start it; it imports these, which may take seconds."""
        self.names = frozenset(names)
        self.settings = settings_here()
        self._ready: dict[str, Any] | None = None
        self._asking = threading.Lock()
        self._requests, theirs = Channel.pair()
        # What it says while it imports has been said here already; it is shown if it dies.
        self._errors = nameless_file()
        # Above those of the standard streams, which may be closed here: they are put there.
        descriptor = fcntl.fcntl(theirs.fileno(), fcntl.F_DUPFD_CLOEXEC, 3)
        boot = _BOOT.format(
            path=sys.path, caller=os.getpid(), descriptor=descriptor, names=[*names]
        )
        with theirs, open(descriptor, "rb"):
            self._process = subprocess.Popen(  # noqa: S603
                [sys.executable, *_flags(), "-c", boot],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=self._errors,
                pass_fds=[descriptor],
                start_new_session=True,
            )

    @property
    def pid(self) -> int:
        """The process that keeps it."""
        return self._process.pid

    def serves(self, names: Sequence[str]) -> bool:
        """Whether it is alive, and what it has imported is what would be imported now."""
        alive = self._process.poll() is None
        return alive and self.names >= {*names} and self.settings == settings_here()

    def why_unsafe(self) -> str | None:
        """Why it cannot fork; waits until it has imported everything."""
        with self._asking:
            if self._ready is None:
                message = self._requests.receive()
                if message is None:
                    raise ChildDied(f"The process that starts trials failed: {self.last_words()}")
                self._ready = message.body
        unsafe: str | None = self._ready["unsafe"]
        return unsafe

    def ask(self, wanted: dict[str, Any], descriptors: Sequence[int]) -> None:
        """Ask for a child; an OSError says that the server is gone."""
        self._requests.send("fork", wanted, descriptors)

    def last_words(self) -> str:
        """The end of what it wrote."""
        self.await_end()
        size = os.fstat(self._errors.fileno()).st_size
        text = os.pread(self._errors.fileno(), size, 0).decode(errors="replace")
        lines = text.strip().splitlines()
        return lines[-1] if lines else f"exit status {self._process.poll()}"

    def retire(self) -> None:
        """Take no more trials, and end when the last of those that run has ended."""
        with contextlib.suppress(OSError):
            self._requests.send("retire")

    def has_ended(self) -> bool:
        """Whether there is nothing left to wait for."""
        return self._process.poll() is not None

    def await_end(self) -> None:
        """It no longer answers; its keeper may take a moment to end what it has left behind."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_LONGEST_END_S)

    def close(self) -> None:
        """Its trials end with it."""
        self._requests.close()
        self.await_end()
        self._errors.close()

    def forget(self) -> None:
        """In a forked copy of the caller: the server is not its own."""
        self._requests.close()
        self._process.returncode = 0  # so that nobody waits for another's child


class Servers:
    """The server of this process: started when first needed, and again when it has died."""

    def __init__(self, *, imports: bool = True) -> None:
        """None is running; without `imports` it loads no framework, so that each child does."""
        self._imports = imports
        self._current: ServerProcess | None = None
        self._retired: list[ServerProcess] = []
        self._changing = threading.Lock()
        atexit.register(self.close)
        os.register_at_fork(after_in_child=self._forget)

    def get(self, preload: Sequence[str] = ()) -> ServerProcess:
        """A server that has imported what this process has, and `preload`."""
        names = (*preload, *frameworks_here()) if self._imports else ()
        with self._changing:
            if self._current is None or not self._current.serves(names):
                self._retire()
                self._current = ServerProcess(names)
            return self._current

    def close(self) -> None:
        """End it, with all trials."""
        with self._changing:
            for one in self._all():
                one.close()
            self._current, self._retired = None, []

    def _retire(self) -> None:
        """Another one will take its place; its trials, on other threads, run on."""
        if self._current is not None:
            self._current.retire()
            self._retired.append(self._current)
        for one in [one for one in self._retired if one.has_ended()]:
            one.close()
            self._retired.remove(one)

    def _forget(self) -> None:
        self._changing = threading.Lock()
        for one in self._all():
            one.forget()
        self._current, self._retired = None, []

    def _all(self) -> list[ServerProcess]:
        return [*self._retired, *([self._current] if self._current is not None else [])]


def _flags() -> list[str]:
    flags: list[str] = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined] # noqa: SLF001
    return flags
