"""Memory growth and limits on GPUs: what everyone forgets to set before the first operation.

One file per framework. No framework is imported or set up by us.
"""

import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from types import ModuleType

from lowwater.agent.device_settings.jax import CLIENT, JaxSettings, jax_gpus_in_use
from lowwater.agent.device_settings.tensorflow import TensorFlowSettings
from lowwater.agent.device_settings.torch import TorchSettings
from lowwater.agent.instrumentation import first_use
from lowwater.agent.instrumentation._imports import AfterImport
from lowwater.agent.instrumentation._placement import Placement, place_all
from lowwater.agent.instrumentation.first_use import Shown
from lowwater.errors import UsageError
from lowwater.model.device_settings import DeviceSettings
from lowwater.probes.nvml import with_sizes
from lowwater.probes.tensorflow_devices import tensorflow_devices

Note = Callable[[str], None]
_LOCK = threading.RLock()


class Applied:
    """The settings of all frameworks in this process."""

    def __init__(
        self,
        wanted: DeviceSettings,
        note: Note,
        shown: Shown = os.path.basename,
        *,
        overrides: bool = True,
    ) -> None:
        """Nothing is set until `start`; without `overrides`, JAX's variables stay as they are."""
        self.wanted = wanted
        self._note = note
        self._tensorflow = TensorFlowSettings(wanted, note, shown)
        self._jax = JaxSettings(wanted, note, overrides=overrides)
        self._torch = TorchSettings(wanted, note)
        self._undo = ExitStack()

    def start(self) -> None:
        """Wait for each framework; those that are imported are set now."""
        finder = AfterImport(
            {
                first_use.CONTEXT: lambda module: self._place(module, self._tensorflow.placements),
                CLIENT: lambda module: self._place(module, self._jax.placements),
                "torch": self._torch.imported,
            }
        )
        sys.meta_path.insert(0, finder)
        self._undo.callback(sys.meta_path.remove, finder)

    def stop(self) -> None:
        """Take back all that waits; what is set stays."""
        self._undo.close()
        _applied.clear()

    def want(self, wanted: DeviceSettings) -> None:
        """Something else than before."""
        self.wanted = wanted
        for one in (self._tensorflow, self._jax, self._torch):
            one.want(wanted)
        if CLIENT in sys.modules:
            self._jax.apply()

    def apply_now(self) -> None:
        """Do not wait for the first operation of TensorFlow, where it is imported."""
        context = first_use.tensorflow_context()
        if context is not None:
            self._tensorflow.apply(context)

    def told(self) -> Iterator[str]:
        """A line for each device, or for a framework that has none."""
        for one in (self._tensorflow, self._jax, self._torch):
            yield from one.told()
        yield from self.wanted.warnings

    def _place(
        self, module: ModuleType, placements: Callable[[ModuleType], Iterator[Placement]]
    ) -> None:
        place_all(module, placements, self._undo, self._note)


class DevicesInForce:
    """What `devices()` has set: print it to read what is in force for each device now."""

    def __init__(self, applied: Applied) -> None:
        """Ask these whenever it is printed."""
        self._applied = applied

    @property
    def lines(self) -> tuple[str, ...]:
        """One for each device, or for a framework that has none."""
        return tuple(self._applied.told())

    def __str__(self) -> str:
        return "\n".join(self.lines)

    def __repr__(self) -> str:
        return f"<DevicesInForce: {'; '.join(self.lines)}>"


_applied: list[Applied] = []


def start(
    wanted: DeviceSettings,
    note: Note,
    shown: Shown = os.path.basename,
    *,
    overrides: bool = True,
) -> Applied:
    """Set what is wanted in this process, before the first operation on a device."""
    with _LOCK:
        if _applied:
            _applied[0].want(wanted)
        else:
            _applied.append(Applied(wanted, note, shown, overrides=overrides))
            _applied[0].start()
        return _applied[0]


def devices(*, growth: bool | None = None, memory: str | float | None = None) -> DevicesInForce:
    """Set memory growth and a limit for all GPUs, in TensorFlow, JAX and torch.

    Call it at the top of the program, before the first tensor. With `growth=True` a framework
    takes memory as it needs it instead of all at once; `memory="4 GiB"` is the most that it may
    take of each GPU. Where TensorFlow cannot have both, the limit wins. A framework that is not
    imported yet gets its settings when it is. `print(lowwater.devices())` shows what is in force.
    """
    wanted = DeviceSettings.of(growth, memory)
    with _LOCK:
        if not wanted.is_anything:
            return DevicesInForce(_applied[0] if _applied else Applied(wanted, _unheard))
        _check_time(wanted)
        if wanted.limit_bytes is not None:
            wanted = with_sizes(wanted)
        applied = start(wanted, _unheard)
        applied.apply_now()
        return DevicesInForce(applied)


def _unheard(_: str) -> None:
    """In a program that nobody watches, the result is there to be printed."""


def _check_time(wanted: DeviceSettings) -> None:
    """Refuse what can no longer be changed, unless it is in force already."""
    in_force = tensorflow_devices()
    is_known = bool(_applied) and _same(_applied[0].wanted, wanted)
    as_wanted = is_known or (
        wanted.limit_bytes is None and all(one.grows is wanted.growth for one in in_force)
    )
    if in_force and not as_wanted:
        raise _too_late("TensorFlow", first_use.first_use())
    if jax_gpus_in_use() and not is_known:
        raise _too_late("JAX", None)


def _same(one: DeviceSettings, other: DeviceSettings) -> bool:
    return (one.growth, one.limit_bytes) == (other.growth, other.limit_bytes)


def _too_late(framework: str, line: str | None) -> UsageError:
    where = f" at {line}" if line else ""
    # Afterwards, TensorFlow does not know it any more.
    names = "" if line or framework != "TensorFlow" else "; `lowwater run` shows which line that is"
    return UsageError(
        f"{framework} set up its GPUs{where}, so their memory settings can no longer be changed",
        received="lowwater.devices() after the first operation",
        advice=f"call lowwater.devices() at the top of the script, before the first tensor{names}",
    )
