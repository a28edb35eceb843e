"""Where trials run: on this machine, or on a Ray cluster."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from lowwater.errors import UsageError
from lowwater.isolation.local import engine as local
from lowwater.isolation.local.engine import Raw, Start
from lowwater.isolation.order import TrialOrder


class Engine(Protocol):
    """Makes packed calls in fresh processes; any thread may ask."""

    def run(self, order: TrialOrder) -> Raw:
        """Make the call, and wait until its process is gone; `order.cancel` ends both."""
        ...

    def workers(self) -> int:
        """How many calls it makes sense to make at once, where the user does not say."""
        ...


@dataclass(frozen=True, slots=True)
class Local:
    """Fresh processes on this machine.

    `start="spawn"` imports the framework anew for every trial; `preload` names modules, besides
    the frameworks of the caller, that are imported once and for all.
    """

    start: Start = "fork"
    preload: Sequence[str] = ()

    def run(self, order: TrialOrder) -> Raw:
        """In a process forked from the server."""
        return local.run(order, start=self.start, preload=self.preload)

    def workers(self) -> int:
        """One: a training uses all cores by itself."""
        return 1


def engine_of(wanted: str | Engine, options: Mapping[str, Any]) -> Engine:
    """The engine by its name, with its own options."""
    if not isinstance(wanted, str):
        return wanted
    if wanted not in {"local", "ray"}:
        raise UsageError("unknown engine", received=repr(wanted), advice='"local", "ray"')
    kind: Any = Local if wanted == "local" else _ray()
    try:
        engine: Engine = kind(**options)
    except TypeError:
        raise UsageError(
            f"The engine {wanted!r} does not support all of these options",
            received=", ".join(options),
            advice=", ".join(f"{name}=" for name in kind.__dataclass_fields__),
        ) from None
    return engine


def _ray() -> type[Engine]:
    from lowwater.isolation.ray.engine import Ray

    return Ray
