"""Fresh processes on the nodes of a Ray cluster."""

from dataclasses import dataclass

from lowwater.errors import UsageError
from lowwater.isolation.local.engine import Raw
from lowwater.isolation.order import Order


@dataclass(frozen=True, slots=True)
class Ray:
    """Not built yet."""

    def run(self, order: Order) -> Raw:  # noqa: ARG002
        """Refused."""
        raise UsageError("The Ray engine is not built yet", advice='engine="local"')

    def workers(self) -> int:
        """None."""
        return 1
