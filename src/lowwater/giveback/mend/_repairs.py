"""The one list of all repairs."""

from lowwater.giveback.mend._repair import Repair
from lowwater.giveback.mend.eager_cache import EagerCache
from lowwater.giveback.mend.gradient_registry import GradientRegistry

REPAIRS: tuple[Repair, ...] = (GradientRegistry(), EagerCache())
