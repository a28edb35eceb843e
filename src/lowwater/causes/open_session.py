"""LW204 open-session."""

from typing import TYPE_CHECKING

from lowwater.causes import _kinds, _words
from lowwater.causes._cause import Cause, Claim
from lowwater.causes._lines import grown
from lowwater.causes._paths import below, line_of, name_of
from lowwater.model import Evidence, Holder, tallies

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lowwater.check.source import Source
    from lowwater.model.source import SourceClaim


class OpenSession(Cause):
    """Sessions stay open.

    A session of `tf.compat.v1` owns the values of its variables, outside Python.
    They are freed when the session is closed, or when nothing refers to it any longer.
    A session is never freed if it stays open in a list, or if it is the default session of a
    block that never ends.

    Leaks:

        sessions = []
        for job in jobs:
            session = tf.compat.v1.Session()
            session.run(init_op)
            sessions.append(session)

    Stays flat:

        for job in jobs:
            with tf.compat.v1.Session() as session:
                session.run(init_op)

    Known problems:

        If the file closes anything that may be a session, none of its sessions is blamed.
        Sessions that stay the default session of a block are found only when the program runs.

    Fix safety:

        There is no automatic fix: when a session is no longer needed is for you to decide.

    Applies to:

        TensorFlow 1, and `tf.compat.v1` of every TensorFlow 2.
    """

    code = "LW204"
    name = "open-session"
    fix = "Open it in a block, `with tf.compat.v1.Session() as session:`, or call `close()`."
    is_mostly_native = True
    words = ("Session(",)
    words_beside = (".append", ".add(", "] =", ".setdefault", "+=", ".update(", ".insert(")
    measured = "2.3 MiB per iteration in the specimen of this rule"

    def claims(self, holder: Holder, evidence: Evidence) -> bool:
        """New items lead to sessions, or to graphs with one each, and ever more are open."""
        opened = grown(evidence, tallies.SESSIONS)
        if opened is None:
            return False
        has_one_each = opened.counts == holder.counts
        return any(
            _kinds.is_session(step) or (has_one_each and _kinds.is_v1_graph(step))
            for step in below(holder)
        )

    def account(self, holder: Holder, evidence: Evidence) -> Claim:
        """How many stay open, who keeps them, and where they were opened."""
        found, name = self.in_rest(holder.grown_bytes, evidence), name_of(holder)
        if found is None or found.where is None:
            message = f"`{name}` {_words.grows(holder, evidence)}."
            return Claim(found.message if found else message, line_of(holder), name)
        return Claim(found.message, where=found.where, holder=name)

    def in_rest(self, rest_bytes: int, evidence: Evidence) -> Claim | None:  # noqa: ARG002
        """Ever more sessions are open."""
        opened = grown(evidence, tallies.SESSIONS)
        if opened is None:
            return None
        more = _words.rise(opened, "more", "more", evidence)
        message = f"Sessions stay open: {more}, now {opened.counts[-1]:,}."
        return Claim(message, where=opened.where)

    def find_in_source(self, source: "Source") -> "Iterator[SourceClaim]":
        """A session, or an object that has one, is added to a container and never closed."""
        for growth in source.growths:
            if source.leads_to(growth.value, "session") is None or _is_closed(source):
                continue
            if not source.is_entered(growth.value):
                yield source.claim(
                    growth.node,
                    f"`{growth.name}` keeps the open session of every {growth.round.name}.",
                    label="an open session keeps its variables and its graph in memory",
                )


def _is_closed(source: "Source") -> bool:
    """Whether something is closed that may be a session."""
    for call in source.calls_of("close"):
        kinds = source.kinds(source.receiver(call))
        if not kinds or "session" in kinds:
            return True
    return False
