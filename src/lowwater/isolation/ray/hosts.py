"""The hosts of this program: kept between trials, because a warm one starts them in a blink."""

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lowwater.isolation.cancel import Cancel, Cancelled
from lowwater.isolation.ray.host import Host

# How often those who wait look whether they still should.
LOOK_S = 0.1
# One trial, and beside it the caller who listens, answers, cancels or lets it rest.
_CALLS_AT_ONCE = 8


class HostLost(Exception):
    """The host has died, or its node has; the message is Ray's."""


@dataclass(eq=False, slots=True)
class Handle:
    """One host, as the caller sees it."""

    actor: Any
    ready: Any
    where: str = ""
    is_new: bool = True
    idle_since: float = 0

    def end(self) -> None:
        """Give its resources back; a trial that runs there dies with it."""
        import ray

        ray.kill(self.actor)


class Hosts:
    """Those with the same options. Any thread may take one."""

    def __init__(self, options: Mapping[str, Any], idle_s: float) -> None:
        """None is there yet; one that is not used for so long is ended."""
        self.options = options
        self.idle_s = idle_s
        self._idle: list[Handle] = []
        self._starting: list[Handle] = []
        self._waiting = 0
        self._changing = threading.Lock()

    def take(self, cancel: Cancel | None) -> Handle:
        """A host that is ready: one that is idle, or whichever is first to become so."""
        import ray

        with self._changing:
            self._waiting += 1
        try:
            while True:
                with self._changing:
                    found = self._found()
                    if found is not None:
                        self._stop_waiting()
                        return found
                    starting = [one.ready for one in self._starting]
                ray.wait(starting, timeout=LOOK_S)
                _check(cancel)
        except BaseException:
            with self._changing:
                self._stop_waiting()
            raise

    def put_back(self, host: Handle, number: int) -> None:
        """For the next trial after this one; if none comes, it ends by itself."""
        host.actor.rest.remote(number, self.idle_s)
        with self._changing:
            host.is_new, host.idle_since = False, time.monotonic()
            self._idle.append(host)

    def end_idle(self) -> None:
        """End them now: their resources are needed."""
        with self._changing:
            idle, self._idle = self._idle, []
        for one in idle:
            one.end()

    def _found(self) -> Handle | None:
        """One that can be used now. As many are started as there are threads that wait."""
        import ray

        limit = time.monotonic() - self.idle_s
        self._idle = [one for one in self._idle if one.idle_since > limit]
        if self._idle:
            return self._idle.pop()
        while len(self._starting) < self._waiting:
            self._starting.append(self._start())
        ready, _ = ray.wait([one.ready for one in self._starting], timeout=0)
        for one in [one for one in self._starting if one.ready in ready]:
            self._starting.remove(one)
            one.where = told(one.ready)
            return one
        return None

    def _stop_waiting(self) -> None:
        """One thread less; what was started for it, and is not needed now, is ended."""
        self._waiting -= 1
        while len(self._starting) > self._waiting:
            self._starting.pop().end()

    def _start(self) -> Handle:
        import ray

        actor = (
            ray.remote(Host)
            .options(max_concurrency=_CALLS_AT_ONCE, max_restarts=0, **self.options)
            .remote()
        )
        return Handle(actor, actor.where.remote())


def _check(cancel: Cancel | None) -> None:
    if cancel is not None and cancel.is_set:
        raise Cancelled


def told(reference: Any) -> Any:  # noqa: ANN401
    """The value of a call to a host; raises `HostLost` where there will be none."""
    import ray

    try:
        return ray.get(reference)
    except ray.exceptions.RayTaskError:  # raised by our own code there
        raise
    except ray.exceptions.RayError as error:
        raise HostLost(_first_line(error)) from None


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__


class Clusters:
    """The hosts of the cluster that this program is connected to, by their options."""

    def __init__(self) -> None:
        """Not connected yet."""
        self._connection = ""
        self._hosts: list[Hosts] = []
        self._changing = threading.Lock()

    def hosts(self, options: Mapping[str, Any], idle_s: float) -> Hosts:
        """Those with these options; idle ones with others make room."""
        import ray

        connection = ray.get_runtime_context().get_worker_id()
        with self._changing:
            if connection != self._connection:  # the program has left the cluster meanwhile
                self._connection, self._hosts = connection, []
            for one in self._hosts:
                if one.options != options:
                    one.end_idle()
            for one in self._hosts:
                if (one.options, one.idle_s) == (options, idle_s):
                    return one
            self._hosts.append(Hosts(options, idle_s))
            return self._hosts[-1]
