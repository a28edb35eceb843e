"""Repair the known leaks of the libraries."""

from lowwater.experiments.change import Change
from lowwater.experiments.factors._factor import Factor


class Mended(Factor):
    """What `lowwater run --mend` does."""

    key = "mended"
    name = "library leaks mended"
    cleared = "not a leak that mend() knows"
    blamed = "a leak of the libraries that mend() repairs"
    codes = ("LW205", "LW209")

    def apply(self, change: Change, detail: str) -> None:  # noqa: ARG002
        """Now, and when the libraries come in."""
        from lowwater.mend import mend

        mend()
