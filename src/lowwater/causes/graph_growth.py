"""LW203 graph-growth."""

from typing import TYPE_CHECKING

from lowwater.causes import _kinds, _words
from lowwater.causes._cause import Cause, Claim
from lowwater.causes._lines import grown
from lowwater.causes._paths import line_of, name_of
from lowwater.model import Evidence, Holder, tallies

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterator

    from lowwater.check.source import Source
    from lowwater.model.source import SourceClaim

_NEW_GRAPHS = (
    "tensorflow.Graph", "tensorflow.v1.Graph", "tensorflow.reset_default_graph",
    "tensorflow.v1.reset_default_graph", "keras.backend.clear_session",
    "keras.utils.clear_session",
)  # fmt: skip


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

    Known problems:

        Only loops that run a session themselves are searched: operations that a helper adds are
        found when the program runs.

    Fix safety:

        There is no automatic fix: what must move out of the loop is for you to decide.

    Applies to:

        TensorFlow 1, and `tf.compat.v1` of every TensorFlow 2.
    """

    code = "LW203"
    name = "graph-growth"
    fix = (
        "Build the operation once, before the loop; "
        "`tf.get_default_graph().finalize()` then turns a later addition into an error."
    )
    is_mostly_native = True
    words = (".run(",)
    words_beside = ("Session",)
    measured = "1.7 MiB per iteration in the specimen of this rule, of about 104 operations"

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

    def find_in_source(self, source: "Source") -> "Iterator[SourceClaim]":
        """An operation is made in a loop that runs a session."""
        seen: set[object] = set()
        for call in source.calls:
            loop = _session_loop(source, call) if source.adds_operation(call) else None
            if loop is not None and loop not in seen:
                seen.add(loop)
                yield source.claim(
                    call,
                    f"`{source.text_of(call.func)}` adds an operation to the graph in every "
                    "iteration.",
                    label="never removed, and each addition makes `run` slower",
                )


def _session_loop(source: "Source", call: "ast.Call") -> "ast.AST | None":
    """The loop around a call that runs a session, if it ends with no list of names."""
    rounds = source.rounds(call)
    if not any(one.is_loop and source.is_worked_through(one) for one in rounds):
        return None
    for loop in source.loops_around(call):
        inside = list(source.calls_inside(loop))
        runs = any(source.is_session_run(one) for one in inside)
        if runs and not any(source.calls_library(one, *_NEW_GRAPHS) for one in inside):
            return loop
    return None
