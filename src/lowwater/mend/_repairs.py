"""The one list of all repairs."""

from lowwater.mend._repair import Repair
from lowwater.mend.eager_cache import EagerCache
from lowwater.mend.gradient_registry import GradientRegistry

REPAIRS: tuple[Repair, ...] = (GradientRegistry(), EagerCache())
