"""LW203 graph-growth."""

from lowwater.causes import _kinds, _words
from lowwater.causes._cause import Cause, Claim
from lowwater.causes._lines import grown
from lowwater.causes._paths import line_of, name_of
from lowwater.model import Evidence, Holder, tallies


class GraphGrowth(Cause):
    """The program adds operations to a graph while running it.

    In graph mode (`tf.compat.v1`) a call such as `tf.reduce_max` computes nothing.
    It adds an operation to the graph, and operations are never removed.
    Inside the training loop, this makes the graph larger and each `run` slower, step by step.

    Leaks:

        for step in range(1000):
            session.run(train_op)
            best = session.run(tf.reduce_max(prediction))

    Stays flat:

        best_op = tf.reduce_max(prediction)
        tf.get_default_graph().finalize()
        for step in range(1000):
            session.run(train_op)
            best = session.run(best_op)
    """

    code = "LW203"
    name = "graph-growth"
    fix = (
        "Build the operation once, before the loop; "
        "`tf.get_default_graph().finalize()` then turns a later addition into an error."
    )
    is_mostly_native = True

    def claims(self, holder: Holder, evidence: Evidence) -> bool:
        """A table of a graph that has ever more operations."""
        in_graph = any(_kinds.is_v1_graph(s) for s in holder.steps[: holder.container + 1])
        return in_graph and grown(evidence, tallies.OPERATIONS) is not None

    def account(self, holder: Holder, evidence: Evidence) -> Claim:
        """How fast the graph grows, and the line that adds to it."""
        found = self.in_rest(holder.grown_bytes, evidence)
        return found or Claim("A graph grows.", where=line_of(holder), holder=name_of(holder))

    def in_rest(self, rest_bytes: int, evidence: Evidence) -> Claim | None:  # noqa: ARG002
        """Operations were added in every interval."""
        added = grown(evidence, tallies.OPERATIONS)
        if added is None:
            return None
        rate = _words.rise(added, "operation", "operations", evidence)
        message = f"The graph grows by {rate}. Operations are never removed from a graph."
        return Claim(message, where=added.where, holder="default graph")
