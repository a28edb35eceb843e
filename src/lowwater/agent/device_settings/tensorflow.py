"""Memory growth or a limit for TensorFlow's GPUs, set right before they are set up.

Not when TensorFlow is imported: to list the GPUs starts their driver, and a script may still set
CUDA_VISIBLE_DEVICES. What the script sets itself stands, and nothing of ours is in its way.
"""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from lowwater.agent.instrumentation import first_use
from lowwater.agent.instrumentation._placement import Placement
from lowwater.agent.instrumentation.first_use import Shown, user_line
from lowwater.model.device_settings import DeviceSettings
from lowwater.model.devices import Device
from lowwater.model.units import format_bytes
from lowwater.probes.tensorflow_devices import tensorflow_devices

_MIB = 1 << 20
_FORCED = "TF_FORCE_GPU_ALLOW_GROWTH"
_GROWS = "takes memory as it needs it"
_GREEDY = "takes all memory it can get at its first use"
_IGNORED = "no limit, because TensorFlow ignores limits on pluggable devices"


class TensorFlowSettings:
    """What is wanted of TensorFlow, and what became of it."""

    def __init__(
        self, wanted: DeviceSettings, note: Callable[[str], None], shown: Shown = os.path.basename
    ) -> None:
        """Nothing is set until `apply`, or until TensorFlow sets up its devices."""
        self.wanted = wanted
        self._note = note
        self._shown = shown
        self._module: ModuleType | None = None
        self._is_ours = False
        self._is_done = False
        self._script: str | None = None
        self._withdrawals: list[Callable[[Any], None]] = []
        self._told: dict[str, str] = {}

    def placements(self, module: ModuleType) -> Iterator[Placement]:
        """Where TensorFlow reads its settings, and where a script makes its own."""
        self._module = module
        kind = module.Context
        yield from first_use.placements(module, self._shown)
        yield Placement(kind.config.fget, self.apply, "start", ("self",))
        for function, what in (
            (kind.set_memory_growth, "memory growth"),
            (kind.set_logical_device_configuration, "logical devices"),
        ):
            yield Placement(function, self._seen(what), "start", ("self", "dev"))

    def want(self, wanted: DeviceSettings) -> None:
        """Something else than before."""
        self._withdraw(first_use.tensorflow_context())
        self.wanted, self._is_done, self._script = wanted, False, None
        self._told.clear()

    def apply(self, context: Any) -> None:  # noqa: ANN401 - TensorFlow's
        """Set what is wanted, once, unless it is too late or the script has set its own."""
        if self._is_ours or self._is_done or self._script or not self.wanted.is_anything:
            return
        if context._context_handle is None:  # noqa: SLF001 - nothing public tells it
            self._is_done = True
            with self._ours():
                self._apply(context)

    def told(self) -> Iterator[str]:
        """What is in force for each device, or will be."""
        in_force = tensorflow_devices()
        if first_use.CONTEXT not in sys.modules:
            yield "TensorFlow: not imported yet"
        elif in_force:
            yield from (_in_force(device, self.wanted) for device in in_force)
        elif _is_set_up():
            yield "TensorFlow: no GPU found"
        elif self._script:
            yield f"TensorFlow: {self._script}"
        elif self._told:
            yield from (f"TensorFlow {place}: {text}" for place, text in self._told.items())
        else:
            yield "TensorFlow: nothing set"

    @contextmanager
    def _ours(self) -> Iterator[None]:
        self._is_ours = True
        try:
            yield
        finally:
            self._is_ours = False

    def _apply(self, context: Any) -> None:  # noqa: ANN401
        gpus = context.list_physical_devices("GPU")
        given = context._config  # noqa: SLF001 - what `enable_eager_execution(config)` was given
        if gpus and given is not None and given.HasField("gpu_options"):
            self._leave_to_script("GPU options", None)
            return
        for gpu in gpus:
            place = gpu.name.rpartition("device:")[2]
            self._told[place] = self._set(context, gpu)
            self._note(f"TensorFlow {place}: {self._told[place]}")
        if not gpus:
            self._told["GPUs"] = "none found"
            self._note("the GPU settings have no effect: TensorFlow found no GPU")

    def _set(self, context: Any, gpu: Any) -> str:  # noqa: ANN401
        """A limit wins: TensorFlow has no memory growth on a device with a limit."""
        limit, growth = self.wanted.limit_bytes, self.wanted.growth
        if gpu in context._virtual_device_map:  # noqa: SLF001
            return "left as it is, because the program has set logical devices there"
        is_pluggable = gpu in getattr(context, "_pluggable_devices", ())
        if limit is not None and not is_pluggable:
            self._limit(context, gpu, max(1, limit // _MIB))
            instead = "; memory growth is off, because the limit wins" if growth else ""
            return f"limit of {format_bytes(limit)}{instead}"
        if growth is not None:
            self._grow(context, gpu, growth=growth)
        told = [] if limit is None else [_IGNORED]
        return "; ".join([*told, *_growth_told(growth)])

    def _limit(self, context: Any, gpu: Any, limit_mib: int) -> None:  # noqa: ANN401
        assert self._module is not None
        one = self._module.LogicalDeviceConfiguration(memory_limit=limit_mib)
        context.set_logical_device_configuration(gpu, [one])
        self._withdrawals.append(lambda found: found._virtual_device_map.pop(gpu, None))  # noqa: SLF001

    def _grow(self, context: Any, gpu: Any, *, growth: bool) -> None:  # noqa: ANN401
        before = context.get_memory_growth(gpu)
        context.set_memory_growth(gpu, growth)

        def withdraw(found: Any) -> None:  # noqa: ANN401
            # Once the devices are set up, this tells what is in force.
            if found._context_handle is None:  # noqa: SLF001
                found._memory_growth_map[gpu] = before  # noqa: SLF001

        self._withdrawals.append(withdraw)

    def _seen(self, what: str) -> Callable[[Any, Any], None]:
        """The script is about to set something: what is ours must not make that fail."""

        def seen(context: Any, device: Any) -> None:  # noqa: ANN401
            if self._is_ours or getattr(device, "device_type", None) == "CPU":
                return
            self._withdraw(context)
            if context._context_handle is None:  # noqa: SLF001
                self._leave_to_script(what, user_line(self._shown))

        return seen

    def _withdraw(self, context: Any) -> None:  # noqa: ANN401
        while self._withdrawals:
            self._withdrawals.pop()(context)

    def _leave_to_script(self, what: str, line: str | None) -> None:
        if self._script is None and self.wanted.is_anything:
            at = f" ({line})" if line else ""
            self._script = f"the script set {what} itself{at}, and its setting is used"
            self._note(f"TensorFlow: {self._script}")


def _growth_told(growth: bool | None) -> list[str]:  # noqa: FBT001
    forced = os.environ.get(_FORCED, "").lower()
    if growth is not None and forced in ("true", "false") and (forced == "true") is not growth:
        return [f"{_FORCED}={os.environ[_FORCED]} overrides the setting of memory growth"]
    return [] if growth is None else [_GROWS if growth else _GREEDY]


def _is_set_up() -> bool:
    return bool(getattr(first_use.tensorflow_context(), "_initialized", False))


def _in_force(device: Device, wanted: DeviceSettings) -> str:
    most = None if device.limit_bytes is None else format_bytes(device.limit_bytes)
    if device.grows:
        told = _GROWS + (f", up to {most}" if most else "")
    else:
        told = f"takes all of {most} at its first use" if most else _GREEDY
    limit = wanted.limit_bytes
    if limit is not None and (device.limit_bytes or 0) > limit:
        told += f"; the limit of {format_bytes(limit)} is not in force"
    return f"TensorFlow {device.place}: {told}"
