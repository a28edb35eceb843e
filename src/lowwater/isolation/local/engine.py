"""Runs a call in a fresh process on this machine."""

import contextlib
import os
import selectors
import signal
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from lowwater.errors import ChildDied, ChildOutOfMemory, ChildTimedOut, LowwaterError
from lowwater.isolation.cancel import Cancelled
from lowwater.isolation.lending import ASK
from lowwater.isolation.local import driver_look, logs
from lowwater.isolation.local.channel import Channel, Message
from lowwater.isolation.local.control_group import remove_stale_groups
from lowwater.isolation.local.output import Stream, streams
from lowwater.isolation.local.pool_maps import remove_maps
from lowwater.isolation.local.result import Result
from lowwater.isolation.local.server_process import ServerProcess, Servers
from lowwater.isolation.local.tree import kill_session
from lowwater.isolation.order import TrialOrder
from lowwater.isolation.parcel import from_descriptors, pack, to_files
from lowwater.isolation.postmortem import attach, of_killed
from lowwater.model.units import format_bytes, format_duration

Start = Literal["fork", "spawn"]

# A server may die between two trials; one that dies at once each time cannot be helped.
_MOST_SERVERS = 3
_LONGEST_ECHO_S = 5

# Frameworks that functions have imported by themselves.
_learned: set[str] = set()
_forking = Servers()
_plain = Servers(imports=False)


@dataclass(slots=True)
class Raw:
    """What came back, still packed: a result, or the error that there is none."""

    result: Result | None = None
    error: LowwaterError | None = None
    story: dict[str, Any] = field(default_factory=dict)
    started: str = "fork"
    elapsed_s: float = 0.0
    # What its process took of each GPU; None if that could not say so any more.
    taken: dict[int, int | str] | None = None


class _NotStarted(Exception):
    """The server died before it had started the child: nothing of the call was run."""


def run(order: TrialOrder, *, start: Start = "fork", preload: Sequence[str] = ()) -> Raw:
    """Make the call in a fresh process, and wait until that is gone."""
    began, gpus = time.monotonic(), driver_look.look()
    for _ in range(_MOST_SERVERS):
        server, started = _server(start, preload)
        trial = _LocalTrial(order)
        try:
            raw = trial.run(server)
        except _NotStarted:
            server.await_end()
            continue
        raw.started, raw.elapsed_s = started, time.monotonic() - began
        raw.story["driver"] = driver_look.given_back(gpus, trial.pid, raw.taken)
        return raw
    told = f"The process that starts trials failed every time: {server.last_words()}"
    return Raw(error=ChildDied(told), elapsed_s=time.monotonic() - began)


def _server(start: Start, preload: Sequence[str]) -> tuple[ServerProcess, str]:
    if start == "spawn":
        return _plain.get(), "spawn: requested"
    server = _forking.get((*preload, *sorted(_learned)))
    unsafe = server.why_unsafe()
    if unsafe is None:
        return server, "fork"
    warnings.warn(
        f"Trials start slowly, because each one imports the framework again: {unsafe}", stacklevel=4
    )
    return _plain.get(), f"spawn: {unsafe}"


class _LocalTrial:
    """One call, from the request to the end of its process."""

    def __init__(self, order: TrialOrder) -> None:
        self._order = order
        self._limits = order.limits
        self._cancel = order.cancel
        self._raw = Raw()
        self._end: dict[str, Any] | None = None
        self._is_late = False
        # Its number, and when it began.
        self._process: tuple[int, int] | None = None
        self._is_over = False
        self._events = selectors.DefaultSelector()

    @property
    def pid(self) -> int | None:
        """The number that its process had, if there was one."""
        return self._process[0] if self._process is not None else None

    def run(self, server: ServerProcess) -> Raw:
        here, of_child = Channel.pair()
        tidings, of_server = Channel.pair()
        with here, of_child, tidings, of_server, streams() as output, self._events:
            wanted = {"memory_bytes": self._limits.memory_bytes}
            ends = [of_child.fileno(), of_server.fileno(), *(one.writing for one in output)]
            try:
                server.ask(wanted, ends)
            except OSError:
                raise _NotStarted from None
            for one in (of_child, of_server):
                one.close()
            for stream in output:
                stream.hand_over()
            self._hand_over_call(here)
            try:
                self._follow(here, tidings, output)
            finally:
                if self._process is not None:
                    remove_maps(*self._process)
        return self._judged(server)

    def _hand_over_call(self, channel: Channel) -> None:
        files = [*to_files(pack(self._order.surroundings))[:1], *to_files(self._order.call)]
        body = {"device_bytes": self._limits.device_bytes}
        # If the child is dead already, its end will be told.
        with contextlib.suppress(OSError):
            channel.send("call", body, [file.fileno() for file in files])
        for file in files:
            file.close()

    def _follow(self, channel: Channel, tidings: Channel, output: Sequence[Stream]) -> None:
        """Until the process has ended and all that it wrote was passed on."""
        self._on(tidings, lambda: self._taken(tidings, self._take_tidings))
        self._on(channel, lambda: self._taken(channel, self._take_message))
        for stream in output:
            if stream.reading is not None:
                self._on(stream.reading, stream.pass_on)
        if self._cancel is not None:
            self._on(self._cancel, _cancelled)
        try:
            self._wait_for_end(tidings)
        except BaseException:  # Ctrl-C, or the program's own stream that cannot be written to
            self._abandon(tidings)
            raise

    def _wait_for_end(self, tidings: Channel) -> None:
        deadline = _deadline(self._limits.timeout_s)
        while self._waits_for_anything():
            for key, _ in self._events.select(_left(deadline)):
                if not key.data():
                    self._events.unregister(key.fileobj)
            if not self._is_listening(tidings):
                # Only a process that nobody could kill may still hold an end of a pipe.
                deadline = deadline if self._is_over else _deadline(_LONGEST_ECHO_S)
                self._is_over = True
            if deadline is not None and time.monotonic() >= deadline:
                if self._is_over:
                    return
                deadline, self._is_late = None, True
                with contextlib.suppress(OSError):  # it has just ended
                    tidings.send("kill")

    def _on(self, source: Any, act: Callable[[], bool]) -> None:  # noqa: ANN401 - has a fileno
        """What to do when there is something to read; False when it has come to its end."""
        self._events.register(source, selectors.EVENT_READ, act)

    def _is_listening(self, source: Channel) -> bool:
        return source.fileno() in self._events.get_map()

    def _waits_for_anything(self) -> bool:
        return len(self._events.get_map()) > (self._cancel is not None)

    def _taken(self, channel: Channel, take: Callable[[Message, Channel], None]) -> bool:
        message = channel.receive()
        if message is not None:
            take(message, channel)
        return message is not None

    def _take_tidings(self, message: Message, _: Channel) -> None:
        if message.kind == "started":
            self._process = message.body
        elif message.kind == "refused":
            self._raw.error = ChildDied(f"Could not start a process: {message.body}")
        else:
            self._end = message.body

    def _take_message(self, message: Message, channel: Channel) -> None:
        if message.kind == logs.KIND:
            self._order.take_log(message.body)
        elif message.kind == ASK:
            channel.send("answer", self._order.lender.answer(message.body))
        else:
            self._raw.result = Result(message.kind, from_descriptors(message.descriptors))  # type: ignore[arg-type]
            _learned.update(message.body.pop("learned"))
            self._raw.taken = message.body.pop("taken")
            self._raw.story |= message.body

    def _abandon(self, tidings: Channel) -> None:
        """Kill it, and wait until it is gone: nothing may be left behind."""
        with contextlib.suppress(OSError):
            tidings.send("kill")
            while (message := tidings.receive()) is not None and message.kind != "ended":
                pass

    def _judged(self, server: ServerProcess) -> Raw:
        """The result, or the reason why there is none."""
        raw, end = self._raw, self._end
        if raw.error is not None:
            return raw
        if end is None:
            if self._process is None:
                raise _NotStarted
            server.await_end()
            # Only if the keeper was killed with the server is there anything left to do.
            kill_session(*self._process)
            remove_stale_groups()
            raw.result = None
            raw.error = ChildDied(f"The process that starts trials failed: {server.last_words()}")
            return raw
        raw.story["peak_bytes"] = end["peak_bytes"]
        if self._limits.memory_bytes is not None:
            raw.story["limit_bytes"] = self._limits.memory_bytes
            raw.story["limited_by"] = end["limited_by"]
        if raw.result is None or end.get("over_limit"):
            raw.result, raw.error = None, self._why_died(end)
        return raw

    def _why_died(self, end: dict[str, Any]) -> LowwaterError:
        limit_bytes = self._limits.memory_bytes
        if end.get("over_limit") and limit_bytes is not None:
            peak_bytes = end["limited_peak_bytes"] or end["peak_bytes"]
            return _out_of_memory(
                f"The function was killed at {format_bytes(peak_bytes)}; "
                f"its limit is memory={format_bytes(limit_bytes)!r}",
                peak_bytes,
                limit_bytes,
                f"memory={format_bytes(limit_bytes)!r}",
            )
        if self._is_late and self._limits.timeout_s is not None:
            allowed = format_duration(self._limits.timeout_s)
            return ChildTimedOut(f"The function did not return within {allowed} and was killed")
        if end["system_killed"]:
            return _out_of_memory(
                "The system ran out of memory and killed the function's process at "
                f"{format_bytes(end['peak_bytes'])}",
                end["peak_bytes"],
                limit_bytes,
                None,
            )
        return _died(end)


def _out_of_memory(
    story: str, peak_bytes: int, limit_bytes: int | None, limit_name: str | None
) -> ChildOutOfMemory:
    error = ChildOutOfMemory(story, peak_bytes=peak_bytes, limit_bytes=limit_bytes)
    attach(error, of_killed(peak_bytes, limit_bytes, limit_name))
    return error


def _cancelled() -> bool:
    raise Cancelled


def _deadline(timeout_s: float | None) -> float | None:
    return None if timeout_s is None else time.monotonic() + timeout_s


def _left(deadline: float | None) -> float | None:
    return None if deadline is None else max(0.0, deadline - time.monotonic())


def _died(end: dict[str, Any]) -> ChildDied:
    status, peak = end["status"], format_bytes(end["peak_bytes"])
    if not os.WIFSIGNALED(status):
        code = os.WEXITSTATUS(status)
        return ChildDied(f"The function's process ended with exit code {code} before it returned")
    number = os.WTERMSIG(status)
    if number == signal.SIGKILL:
        return ChildDied(
            f"The function's process was killed (SIGKILL) from outside; its peak was {peak}"
        )
    # Not all have a name in Python: real-time signals do not.
    named = {one.value: one.name for one in signal.Signals}.get(number, f"signal {number}")
    return ChildDied(f"The function's process was ended by {named}; its peak was {peak}")
