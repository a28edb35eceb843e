"""LW102 growing-container."""

from lowwater.causes import _kinds, _words
from lowwater.causes._cause import Account, Cause
from lowwater.causes._paths import (
    above,
    below,
    container,
    is_in_framework,
    is_programs,
    line_of,
    name_of,
)
from lowwater.model import Evidence, Holder

_FIXES = {
    "list": (
        "Keep what you need of each item, such as `float(loss)`; "
        "or let old items go: `collections.deque(maxlen=1000)`."
    ),
    "dict": "Delete entries that are done with, or keep a number per key in place of the data.",
    "set": "Discard members that are done with, or keep their hashes in place of the data.",
    "deque": "Give it a length: `collections.deque(maxlen=1000)`.",
    **dict.fromkeys(
        ("BytesIO", "StringIO", "bytearray", "str", "bytes"),
        "Write it to a file as it comes, or empty it once it has been read.",
    ),
}
# Modules that are loaded meanwhile grow a little, too.
_LEAST_OF_PYTHON = 0.2
_QUEUE_FIX = "Give it a size, `queue.Queue(maxsize=100)`, so that who writes waits for who reads."
_PYTHON_FIX = "Take back what was registered when it is done with, or register less."
_OBJECT_FIX = "Assign one attribute anew, or keep a few in a `collections.deque(maxlen=10)`."


class GrowingContainer(Cause):
    """A list, dict, set or deque of the program grows with every round.

    Nothing is ever taken out of it, so all that was ever put in stays in memory.
    Typical: a replay memory without a length, losses that are kept as tensors,
    batches that are collected "for later".

    Leaks:

        memory = []
        for episode in range(1000):
            for state, reward in play(episode):
                memory.append((state, reward))

    Stays flat:

        memory = collections.deque(maxlen=10_000)
        for episode in range(1000):
            for state, reward in play(episode):
                memory.append((state, reward))
    """

    code = "LW102"
    name = "growing-container"
    fix = _FIXES["list"]

    def claims(self, holder: Holder, evidence: Evidence) -> bool:
        """Whatever of the program no other cause has claimed, or much of it in Python itself."""
        is_much = holder.grown_bytes >= _LEAST_OF_PYTHON * evidence.growth_bytes
        return is_programs(holder) or (is_much and not is_in_framework(holder))

    def account(self, holder: Holder, evidence: Evidence) -> Account:
        """Which container grows, and by what."""
        name, kind = name_of(holder), _kinds.class_name(container(holder).type)
        if not holder.is_users and below(holder) and not _kinds.is_frame(holder.steps[0]):
            return _of_python(holder, evidence)
        message = f"`{name}` {_words.grows(holder, evidence)}."
        fix = _FIXES.get(kind.removeprefix("default"))
        if any(step.type.startswith("queue.") for step in above(holder)[-1:]):
            fix = _QUEUE_FIX
        elif fix is None and any(step.edge.startswith(".") for step in below(holder)[:1]):
            fix = _OBJECT_FIX
        return Account(message, where=line_of(holder), holder=name, fix=fix)


def _of_python(holder: Holder, evidence: Evidence) -> Account:
    """A table of Python's own, which has no name that a program knows."""
    item = below(holder)[0]
    name = item.type.removeprefix("builtins.")
    grows = _words.grows(holder, evidence)
    message = f"Python keeps ever more `{name}`: a table of its own {grows}."
    return Account(message, where=line_of(holder), holder=name, fix=_PYTHON_FIX)
