"""Runs the garbage collector: most of a model is in cycles."""

import gc

from lowwater.giveback.request import ReleaseRequest
from lowwater.giveback.steps._step import ReleaseStep


class Collector(ReleaseStep):
    """A full collection. It takes what nobody refers to, and only that."""

    name = "collect cycles"

    def run(self, request: ReleaseRequest) -> str | None:  # noqa: ARG002 - the same for all
        """Collect all generations."""
        gc.collect()
        return ""
