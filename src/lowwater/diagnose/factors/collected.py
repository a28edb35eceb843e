"""Run the garbage collector all the time."""

import gc

from lowwater.diagnose.change import Change
from lowwater.diagnose.factors._factor import Factor


class CollectedEachRound(Factor):
    """In every round of the program's loops, every epoch, and at every call of Keras."""

    key = "collected"
    name = "garbage collected in every round"
    cleared = "not uncollected garbage"
    blamed = "garbage that Python has not collected yet"
    codes = ("LW108",)

    def apply(self, change: Change, detail: str) -> None:  # noqa: ARG002
        """Also where the program has turned the collector off."""
        change.in_every_round(gc.collect)
