"""Memory growth or a limit for JAX: variables that it reads when it first looks for devices."""

import os
import sys
from collections.abc import Callable, Iterator
from types import ModuleType

from lowwater.agent.instrumentation._placement import Placement
from lowwater.model.device_settings import DeviceSettings
from lowwater.model.units import format_bytes

CLIENT = "jaxlib.xla_client"
PREALLOCATE = "XLA_PYTHON_CLIENT_PREALLOCATE"
FRACTION = "XLA_PYTHON_CLIENT_MEM_FRACTION"
# Newer releases of JAX refuse both names at once; older ones know only the other.
NEWER_FRACTION = "XLA_CLIENT_MEM_FRACTION"
_NAMES = (PREALLOCATE, FRACTION, NEWER_FRACTION)
_BRIDGE = "jax._src.xla_bridge"


class JaxSettings:
    """What is wanted of JAX, and what became of it."""

    def __init__(
        self, wanted: DeviceSettings, note: Callable[[str], None], *, overrides: bool = True
    ) -> None:
        """Nothing is set until `apply`; without `overrides` what the user has set stays."""
        self._note = note
        self._overrides = overrides
        self._ours: dict[str, str] = {}
        self.want(wanted)

    def want(self, wanted: DeviceSettings) -> None:
        """Something else than before."""
        self._withdraw()
        self.wanted = wanted
        self._before = {name: os.environ.get(name) for name in _NAMES}

    def placements(self, client: ModuleType) -> Iterator[Placement]:
        """Where newer releases of JAX read the variables."""
        self.apply()
        reads = getattr(client, "generate_pjrt_gpu_plugin_options", None)
        if reads is not None:
            yield Placement(reads, self._drop_second_name, "start")

    def apply(self) -> None:
        """Set the variables, but for those that the script has set since we were asked."""
        for name, value in self._wanted_variables():
            now = os.environ.get(name)
            if now == self._before[name] and (now is None or self._overrides):
                os.environ[name] = self._ours[name] = value
            elif self._overrides and now != value:
                self._note(f"JAX: the script set {name}={now} itself, and its setting is used")
        if self._overrides and self.wanted.is_anything:
            for line in self.told():
                self._note(line)

    def told(self) -> Iterator[str]:
        """What JAX finds in its environment."""
        if CLIENT not in sys.modules:
            yield "JAX: not imported yet"
            return
        found = [f"{name}={os.environ[name]}" for name in _NAMES if name in os.environ]
        yield f"JAX: {', '.join(found) or 'nothing set'}"
        if self.wanted.limit_bytes is not None and self.wanted.fraction is None:
            limit = format_bytes(self.wanted.limit_bytes)
            why = self.wanted.no_sizes or "the size of the GPU is unknown"
            yield f"JAX: no limit of {limit}: JAX needs it as a share of the GPU, but {why}"

    def _wanted_variables(self) -> Iterator[tuple[str, str]]:
        if self.wanted.growth is not None:
            yield PREALLOCATE, "false" if self.wanted.growth else "true"
        fraction = self.wanted.fraction
        if fraction is not None:
            # Rounded down: no more than what was asked for.
            share = f"{int(fraction * 1e4) / 1e4 or 1e-4:g}"
            yield NEWER_FRACTION if NEWER_FRACTION in os.environ else FRACTION, share

    def _drop_second_name(self) -> None:
        """The script has set the other name since: JAX would refuse both."""
        if FRACTION in os.environ and NEWER_FRACTION in os.environ:
            ours = FRACTION if FRACTION in self._ours else NEWER_FRACTION
            self._put_back(ours)
            self._note("JAX: the script set its share of the GPU itself, and its setting is used")

    def _withdraw(self) -> None:
        for name in [*self._ours]:
            self._put_back(name)

    def _put_back(self, name: str) -> None:
        ours, before = self._ours.pop(name, None), self._before[name]
        if ours is None or os.environ.get(name) != ours:
            return
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


def jax_gpus_in_use() -> bool:
    """Whether JAX has set up GPUs already; it is never set up by us."""
    backends = getattr(sys.modules.get(_BRIDGE), "_backends", None) or {}
    return any(name in ("gpu", "cuda", "rocm") for name in [*backends])
