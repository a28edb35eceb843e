"""Repairs of the libraries at the root of their leaks: one file each, in one list."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lowwater.giveback.mend._mended import Repairs


def mend() -> "Repairs":
    """Repair the known library leaks at their root, in this process.

    Call it once, before or after TensorFlow is imported. A repair is applied only to releases
    that it was tested on, and only if the library looks as expected; `print(lowwater.mend())`
    shows what was done. A second call changes nothing that is already repaired.
    """
    # Imported here, for every program that imports `lowwater` passes by.
    from lowwater.giveback.mend._mended import start_mending
    from lowwater.giveback.mend._repairs import REPAIRS

    return start_mending(REPAIRS)


__all__ = ["mend"]
