"""The one list of all repairs."""

from lowwater.giveback.mend._repair import Repair
from lowwater.giveback.mend.eager_cache import EagerCacheRepair
from lowwater.giveback.mend.gradient_registry import GradientRegistryRepair

REPAIRS: tuple[Repair, ...] = (GradientRegistryRepair(), EagerCacheRepair())
