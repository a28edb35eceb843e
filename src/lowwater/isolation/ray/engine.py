"""Fresh processes on the nodes of a Ray cluster."""

import itertools
import sys
import threading
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lowwater.errors import ChildDied, UsageError
from lowwater.isolation.cancel import Cancelled
from lowwater.isolation.local.engine import Raw
from lowwater.isolation.local.preloads import frameworks_here
from lowwater.isolation.local.result import Result
from lowwater.isolation.order import TrialOrder
from lowwater.isolation.ray.host import ASKED, BEGAN, ENDED, LOGGED, WRITTEN
from lowwater.isolation.ray.hosts import LOOK_S, Clusters, Handle, HostLost, Hosts, told
from lowwater.isolation.ray.wire import Errand, Reply, from_arrays, to_arrays

# A node that dies is not the trial's fault. A trial under which three die probably kills them.
_MOST_HOSTS = 3
# As long as a killed trial may take to be gone; then its host is ended too.
_LONGEST_END_S = 20

_clusters = Clusters()
_numbers = itertools.count(1)
_connecting = threading.Lock()


@dataclass(frozen=True, slots=True)
class Ray:
    """Fresh processes on the nodes of a Ray cluster.

    Each trial holds `num_cpus`, `num_gpus` and `resources` of one node, chosen by
    `scheduling_strategy`, which is Ray's own. `preload` names modules, besides the frameworks of
    the caller, that are imported once for many trials. What holds the resources is kept for the
    next trial, and ended when it has been idle for `idle_s` seconds.
    """

    num_cpus: float = 1
    num_gpus: float = 0
    resources: Mapping[str, float] = field(default_factory=dict)
    scheduling_strategy: Any = "SPREAD"
    runtime_env: Mapping[str, Any] | None = None
    preload: Sequence[str] = ()
    idle_s: float = 60

    def run(self, order: TrialOrder) -> Raw:
        """On a node that has room; again on another one if that dies."""
        self._check_room()
        hosts = _clusters.hosts(self._actor_options(), self.idle_s)
        lost: list[str] = []
        while len(lost) < _MOST_HOSTS:
            try:
                raw = self._run_on(hosts, order, len(lost))
            except HostLost as error:
                lost.append(str(error))
            else:
                if raw is not None:
                    return raw
        reason = (
            f"The function ran on {_MOST_HOSTS} hosts of the cluster, and all of them failed: "
            f"{lost[-1]}"
        )
        return Raw(error=ChildDied(reason))

    def workers(self) -> int:
        """What the cluster has room for, if nobody else uses it."""
        return max(1, self._room())

    def _room(self) -> int:
        ray = connect()
        needs = {"CPU": self.num_cpus, "GPU": self.num_gpus, **self.resources}
        return sum(room_on(node["Resources"], needs) for node in ray.nodes() if node["Alive"])

    def _check_room(self) -> None:
        """Not refused: a cluster may grow."""
        if not self._room():
            wanted = {"num_cpus": self.num_cpus, "num_gpus": self.num_gpus, **self.resources}
            told = ", ".join(f"{name}={amount:g}" for name, amount in wanted.items() if amount)
            warnings.warn(
                f"No node of the Ray cluster has room for {told}; waiting for one", stacklevel=4
            )

    def _run_on(self, hosts: Hosts, order: TrialOrder, lost: int) -> Raw | None:
        """None if the host had died before the trial came to it."""
        host = hosts.take(order.cancel)
        errand = Errand(
            next(_numbers),
            to_arrays(order.call),
            order.limits,
            order.surroundings,
            (*self.preload, *frameworks_here()),
        )
        trial = _RayTrial(host, order, errand)
        try:
            reply = trial.follow()
        except HostLost:
            host.end()
            if trial.has_begun or host.is_new:
                raise
            return None
        except BaseException:  # Ctrl-C, or the program's own stream that cannot be written to
            if trial.abandon():
                hosts.put_back(host, errand.number)
            raise
        hosts.put_back(host, errand.number)
        return _raw(reply, host.where, lost)

    def _actor_options(self) -> dict[str, Any]:
        return {
            "num_cpus": self.num_cpus,
            "num_gpus": self.num_gpus,
            "resources": dict(self.resources),
            "scheduling_strategy": self.scheduling_strategy,
            "runtime_env": None if self.runtime_env is None else dict(self.runtime_env),
        }


class _RayTrial:
    """One call on one host, from here."""

    def __init__(self, host: Handle, order: TrialOrder, errand: Errand) -> None:
        self._actor = host.actor
        self._host = host
        self._order = order
        self._number = errand.number
        self.has_begun = False
        self._running = self._actor.run.remote(errand)
        self._listening = self._actor.listen.remote()

    def follow(self) -> Reply:
        """Show, log and answer what comes, until the trial has ended."""
        while not self._has_ended():
            if self._order.cancel is not None and self._order.cancel.is_set:
                raise Cancelled
        reply: Reply = told(self._running)
        return reply

    def abandon(self) -> bool:
        """Kill it and wait until it is gone; False if the host had to be ended as well."""
        deadline = time.monotonic() + _LONGEST_END_S
        try:
            self._actor.cancel.remote(self._number)
            while not self._has_ended(quietly=True):
                if time.monotonic() > deadline:
                    self._host.end()
                    return False
        except BaseException as error:
            self._host.end()
            if isinstance(error, HostLost):
                return False
            raise
        return True

    def _has_ended(self, *, quietly: bool = False) -> bool:
        """Look for news, for a moment."""
        import ray

        if not ray.wait([self._listening], timeout=LOOK_S)[0]:
            return False
        news = told(self._listening)
        if (ENDED, self._number) not in news:
            self._listening = self._actor.listen.remote()
        for kind, body in news if not quietly else ():
            self._take(kind, body)
        return (ENDED, self._number) in news

    def _take(self, kind: str, body: Any) -> None:  # noqa: ANN401
        if kind == BEGAN:
            self.has_begun = True
        elif kind == WRITTEN:
            _write(*body)
        elif kind == LOGGED:
            self._order.take_log(body)
        elif kind == ASKED:
            self._actor.answer.remote(self._order.lender.answer(body))


def _write(name: str, text: str) -> None:
    stream = getattr(sys, name)
    if stream is not None:
        stream.write(text)
        stream.flush()


def _raw(reply: Reply, where: str, lost: int) -> Raw:
    result = None
    if reply.parts:
        # Changed here like any other array, so it cannot stay in the object store.
        result = Result(reply.kind, from_arrays(reply.parts, writable=True))  # type: ignore[arg-type]
    after = f", after {lost} lost" if lost else ""
    started = f"{reply.started} on {where}{after}"
    return Raw(result, reply.error, reply.story, started, reply.elapsed_s)


def room_on(node: Mapping[str, float], needs: Mapping[str, float]) -> int:
    """How many trials with these needs a node has room for; one, if they need nothing."""
    # A tenth fits ten times, although 1 // 0.1 is 9.
    fits = [int(node.get(name, 0) / amount + 1e-9) for name, amount in needs.items() if amount]
    return min(fits, default=1)


def connect() -> Any:  # noqa: ANN401 - the module
    """Ray; where the program has not joined a cluster, the one that there is, or one made here."""
    try:
        import ray
    except ImportError:
        raise UsageError(
            "The engine 'ray' requires Ray, which is not installed",
            advice="pip install 'lowwater[ray]'",
        ) from None
    with _connecting:
        if not ray.is_initialized():
            # Quiet: what trials write comes to us by another way.
            ray.init(logging_level="WARNING", log_to_driver=False)
    return ray
