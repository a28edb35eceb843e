"""Repair the known leaks of the libraries."""

from lowwater.diagnose.change import Change
from lowwater.diagnose.factors._factor import Factor
from lowwater.diagnose.facts import Facts


class MendedLibraries(Factor):
    """What `lowwater run --mend` does."""

    key = "mended"
    name = "library leaks mended"
    cleared = "not a library leak that mend() repairs"
    blamed = "a library leak that mend() repairs"
    codes = ("LW205", "LW209")

    def why_not(self, facts: Facts) -> str | None:
        """All known leaks are TensorFlow's."""
        return None if facts.has_tensorflow else "the program does not use TensorFlow"

    def apply(self, change: Change, detail: str) -> None:  # noqa: ARG002
        """Now, and when the libraries come in."""
        from lowwater.giveback.mend import mend

        mend()
