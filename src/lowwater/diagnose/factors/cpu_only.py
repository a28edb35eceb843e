"""Hide the GPUs."""

from collections.abc import Mapping

from lowwater.diagnose.factors._factor import Factor
from lowwater.diagnose.facts import Facts


class CpuOnly(Factor):
    """The same on the processor."""

    key = "cpu"
    name = "CPU only"
    cleared = "not the GPU"
    blamed = "something on the GPU"
    codes = ("LW405",)

    def why_not(self, facts: Facts) -> str | None:
        """There has to be one."""
        return None if facts.gpus else "no GPU here: nothing to compare"

    def variables(self) -> Mapping[str, str]:
        """Those that the frameworks ask."""
        return {
            "CUDA_VISIBLE_DEVICES": "-1",
            "JAX_PLATFORMS": "cpu",
        }
