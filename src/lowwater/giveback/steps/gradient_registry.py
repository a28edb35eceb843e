"""Takes graphs that only TensorFlow's gradient registry holds (LW205)."""

import gc

from lowwater.causes.upstream.gradient_registry import GRADIENT_REGISTRY
from lowwater.giveback.gradients.lending import at_copying, lent, table
from lowwater.giveback.request import ReleaseRequest
from lowwater.giveback.steps._step import ReleaseStep


class PrunedRegistry(ReleaseStep):
    """Entries of dead graphs. A graph that lives keeps its gradients, and so do its copies."""

    name = "gradient registry"
    about = f"{GRADIENT_REGISTRY.code}, {(GRADIENT_REGISTRY.issue or '').partition('/')[2]}"

    def run(self, request: ReleaseRequest) -> str | None:
        """Lend the entries to their graphs, and collect."""
        found = table()
        if found.why_not:
            return found.why_not if found.is_loaded else None
        if not found.names:
            return None
        busy = at_copying()
        if busy:
            return busy
        with lent(request.graphs):
            gc.collect()
        return ""
