"""Lives on a node of the cluster, holds the resources of one trial, and runs one after another.

It is an actor that imports no framework: each trial runs in a fresh process of that node, forked
from a server that has imported the framework, just as on the caller's own machine. Limits,
time-outs and faults are the local engine's.
"""

import threading
from contextlib import redirect_stderr, redirect_stdout
from queue import Empty, SimpleQueue
from typing import Any

from lowwater.errors import LowwaterError
from lowwater.isolation.cancel import Cancel, Cancelled
from lowwater.isolation.lending import Lender, LoanQuestion
from lowwater.isolation.local import engine
from lowwater.isolation.local.engine import Raw
from lowwater.isolation.order import TrialOrder
from lowwater.isolation.ray.node import adopt, as_seen_here
from lowwater.isolation.ray.wire import Errand, Reply, from_arrays, to_arrays

# What the caller is told while a trial runs.
BEGAN, WRITTEN, LOGGED, ASKED, ENDED = "began", "written", "logged", "asked", "ended"

# A call that listens comes back now and then, so that none waits for ever.
_LONGEST_SILENCE_S = 30
# How often a trial that waits for its caller looks whether it was cancelled.
_LOOK_S = 0.1

News = SimpleQueue[tuple[str, Any]]


class Host:
    """One trial at a time; beside it the caller listens, answers, or cancels."""

    def __init__(self) -> None:
        """Nothing is started before the first trial."""
        self._news: News = SimpleQueue()
        self._answers: SimpleQueue[tuple[bool, Any]] = SimpleQueue()
        self._changing = threading.Condition()
        self._latest = 0
        self._is_closing = False
        self._cancels: dict[int, Cancel] = {}
        self._unwanted: set[int] = set()
        self._has_told_begin = False
        self._begin_is_known = threading.Event()

    def where(self) -> str:
        """The address of the node and the beginning of its name; the host is ready."""
        import ray

        node = ray.get_runtime_context().get_node_id()
        return f"{ray.util.get_node_ip_address()} ({node[:8]})"

    def run(self, errand: Errand) -> Reply:
        """Make the call in a fresh process; the last of the news is that it ended."""
        try:
            with Cancel() as cancel:
                self._begin(errand.number, cancel)
                self._news.put((BEGAN, errand.number))
                self._await_caller(cancel)
                with (
                    redirect_stdout(_Written("stdout", self._news)),
                    redirect_stderr(_Written("stderr", self._news)),
                ):
                    return self._made(errand, cancel)
        finally:
            self._news.put((ENDED, errand.number))

    def listen(self) -> list[tuple[str, Any]]:
        """The news since the last time; waits until there are some."""
        if self._has_told_begin:  # whoever asks for more has got it
            self._begin_is_known.set()
        try:
            news = [self._news.get(timeout=_LONGEST_SILENCE_S)]
            while not self._news.empty():
                news.append(self._news.get())
        except Empty:
            return []
        self._has_told_begin |= any(kind == BEGAN for kind, _ in news)
        return news

    def answer(self, answered: tuple[bool, Any]) -> None:
        """The answer to the last question."""
        self._answers.put(answered)

    def cancel(self, number: int) -> None:
        """Kill that trial, even if it has not begun."""
        with self._changing:
            self._unwanted.add(number)
            if number in self._cancels:
                self._cancels[number].set()
        # It may be waiting for an answer that nobody will give.
        self._answers.put((False, ConnectionError("the caller has ended")))

    def rest(self, number: int, idle_s: float) -> None:
        """That trial has ended. If no other comes for so long, end: others may need the room.

        It is decided here because a thread of the caller must not ask Ray for it: if the program
        leaves the cluster at that moment, Ray ends the program.
        """
        with self._changing:
            if self._changing.wait_for(lambda: self._latest != number, idle_s):
                return
            self._is_closing = True
        import ray

        ray.actor.exit_actor()

    def _begin(self, number: int, cancel: Cancel) -> None:
        self._has_told_begin = False
        self._begin_is_known.clear()
        while not self._answers.empty():  # those to a trial that was cancelled
            self._answers.get()
        with self._changing:
            while self._is_closing:  # too late: the caller will be told that the host is gone
                self._changing.wait()
            self._latest = number
            self._changing.notify_all()
            self._cancels = {number: cancel}
            if number in self._unwanted:
                cancel.set()

    def _await_caller(self, cancel: Cancel) -> None:
        """Start only when the caller knows that it has begun.

        A trial that kills this host at once would seem never to have come to it, and be tried
        again on one host more.
        """
        while not self._begin_is_known.wait(_LOOK_S) and not cancel.is_set:
            pass

    def _made(self, errand: Errand, cancel: Cancel) -> Reply:
        surroundings = as_seen_here(errand.surroundings)
        adopt(surroundings)
        order = TrialOrder(
            from_arrays(errand.call),
            errand.limits,
            surroundings,
            lender=_Caller(self._news, self._answers),
            cancel=cancel,
            take_log=lambda attributes: self._news.put((LOGGED, attributes)),
        )
        try:
            return _reply(engine.run(order, preload=errand.preload))
        except Cancelled:
            return Reply()
        except LowwaterError as error:
            return Reply(error=error)


class _Caller(Lender):
    """The lender on the caller's machine: questions are passed on to it."""

    def __init__(self, news: News, answers: SimpleQueue[tuple[bool, Any]]) -> None:
        super().__init__()
        self._news = news
        self._answers = answers

    def answer(self, question: LoanQuestion) -> tuple[bool, Any]:
        self._news.put((ASKED, question))
        return self._answers.get()


class _Written:
    """Stands in the place of a stream: what the trial writes is shown where the caller is."""

    def __init__(self, name: str, news: News) -> None:
        self._name = name
        self._news = news

    def write(self, text: str) -> int:
        self._news.put((WRITTEN, (self._name, text)))
        return len(text)

    def flush(self) -> None:
        """Nothing is kept back."""


def _reply(raw: Raw) -> Reply:
    result = raw.result
    return Reply(
        kind=result.kind if result is not None else "",
        parts=to_arrays(result.parcel) if result is not None else [],
        error=raw.error,
        story=raw.story,
        started=raw.started,
        elapsed_s=raw.elapsed_s,
    )
