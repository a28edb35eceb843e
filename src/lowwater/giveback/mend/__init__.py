"""Repairs of the libraries at the root of their leaks: one file each, in one list."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lowwater.giveback.mend._mended import Repairs


def mend() -> "Repairs":
    """Repair the known leaks of the libraries at their root, in this process.

    Call it once, before or after TensorFlow is imported. Each repair is made only for releases
    that it was tried on, and only where the library looks as expected; `print(lowwater.mend())`
    says what was done. What is mended already is left as it is.
    """
    # Imported here, for every program that imports `lowwater` passes by.
    from lowwater.giveback.mend._mended import start_mending
    from lowwater.giveback.mend._repairs import REPAIRS

    return start_mending(REPAIRS)


__all__ = ["mend"]
