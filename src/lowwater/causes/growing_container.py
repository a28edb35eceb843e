"""LW102 growing-container."""

from typing import TYPE_CHECKING

from lowwater.causes import _kinds, _words
from lowwater.causes._cause import Cause, Claim
from lowwater.causes._growth import growth_bytes
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

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lowwater.check.source import Source
    from lowwater.check.source_growth import SourceGrowth
    from lowwater.model.source import SourceClaim

_FIXES = {
    "list": (
        "Keep only what you need of each item, such as `float(loss)`; or drop old items: "
        "`collections.deque(maxlen=1000)`."
    ),
    "dict": "Delete entries that you no longer need, or keep a number per key instead of the data.",
    "set": "Discard members that you no longer need, or keep their hashes instead of the data.",
    "deque": "Give it a maximum length: `collections.deque(maxlen=1000)`.",
    **dict.fromkeys(
        ("BytesIO", "StringIO", "bytearray", "str", "bytes"),
        "Write the data to a file as it arrives, or clear it after reading.",
    ),
}
# Modules that are loaded meanwhile grow a little, too.
_LEAST_OF_PYTHON = 0.2
_QUEUE_FIX = (
    "Give it a maximum size, `queue.Queue(maxsize=100)`, so that the writer waits for the reader."
)
_PYTHON_FIX = "Unregister what you no longer need, or register less."
_TENSOR_FIX = (
    "Keep the number, `losses.append(loss.item())`, or only the tensor, `loss.detach()`. As it "
    "is, each loss keeps the activations of its step."
)
_OBJECT_FIX = "Reuse one attribute, or keep the last few in a `collections.deque(maxlen=10)`."


class GrowingContainer(Cause):
    """A list, dict, set or deque of the program grows with every round.

    The program never removes items, so everything that it adds stays in memory.
    Typical cases: a replay memory without a maximum length, losses kept as tensors,
    batches collected "for later".

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

    Known problems:

        A list that is read after its loop is taken for the result of the loop, whatever its
        size.
        A list that another file empties is not seen to be emptied.
        A value of a library that `lowwater check` does not know is not taken for an array.
        Tables that grow by `np.concatenate` are found only when the program runs.

    Fix safety:

        There is no automatic fix: what to keep instead is for you to decide.

    Applies to:

        Every program that uses TensorFlow, Keras, JAX or torch.
    """

    code = "LW102"
    name = "growing-container"
    fix = _FIXES["list"]
    words = (".append", ".add(", "] =", ".setdefault", "+=", ".update(", ".insert(", ".extend(")
    words_beside = (
        "import numpy", "import tensorflow", "from tensorflow", "import torch", "import jax",
        ".predict(",
    )  # fmt: skip
    measured = "1.0 MiB per iteration in the specimen of this rule"
    is_preview = True

    def claims(self, holder: Holder, evidence: Evidence) -> bool:
        """Whatever of the program no other cause has claimed, or much of it in Python itself."""
        is_much = holder.grown_bytes >= _LEAST_OF_PYTHON * growth_bytes(evidence)
        return is_programs(holder) or (is_much and not is_in_framework(holder))

    def account(self, holder: Holder, evidence: Evidence) -> Claim:
        """Which container grows, and by what."""
        name, kind = name_of(holder), _kinds.class_name(container(holder).type)
        if not holder.is_users and below(holder) and not _kinds.is_frame(holder.steps[0]):
            return _of_python(holder, evidence)
        message = f"`{name}` {_words.grows(holder, evidence)}."
        fix = _FIXES.get(kind.removeprefix("default"))
        if any(step.type.startswith("queue.") for step in above(holder)[-1:]):
            fix = _QUEUE_FIX
        elif any(_kinds.is_undetached(step) for step in below(holder)[:1]):
            fix = _TENSOR_FIX
        elif fix is None and any(step.edge.startswith(".") for step in below(holder)[:1]):
            fix = _OBJECT_FIX
        return Claim(message, where=line_of(holder), holder=name, fix=fix)

    def find_in_source(self, source: "Source") -> "Iterator[SourceClaim]":
        """A container that nothing limits gets arrays or tensors in each round."""
        for kept in source.kept_losses():
            yield source.claim(
                kept.node,
                f"`{kept.keeper}` keeps `{kept.loss}` of every iteration, and with it the graph "
                "that torch computed it by.",
                label=f"`{kept.loss}` was not detached",
                fix=f"Keep the number, `{kept.loss}.item()`, or only the tensor, "
                f"`{kept.loss}.detach()`.",
            )
        for growth in source.growths:
            if growth.is_heavy and not growth.is_reduced and _stays(growth):
                yield source.claim(
                    growth.node,
                    f"`{growth.name}` keeps {growth.what} of every {growth.round.name}.",
                    label=f"{growth.one} per {growth.round.name}, and none is ever removed",
                    fix=_FIXES.get(growth.container_type),
                )


def _of_python(holder: Holder, evidence: Evidence) -> Claim:
    """A table of Python's own, which has no name that a program knows."""
    item = below(holder)[0]
    name = item.type.removeprefix("builtins.")
    grows = _words.grows(holder, evidence)
    message = (
        f"A library, or Python itself, keeps more and more `{name}`: one of its tables {grows}."
    )
    return Claim(message, where=line_of(holder), holder=name, fix=_PYTHON_FIX)


def _stays(growth: "SourceGrowth") -> bool:
    """Whether what a round adds outlives the loop's own purpose: it gathers no result."""
    if growth.is_in_callback:
        return True
    if growth.is_shared:
        return True
    if not growth.is_known_container:
        return False
    if growth.is_collected or not growth.is_worked_through:
        return False
    # A loop that fills a list of its own function, or an attribute from one method, gathers data;
    # one that trains does so for as long as the training takes.
    is_filled = growth.is_of_function or (growth.place.is_attribute and not growth.round.through)
    return not is_filled or growth.source.trains(growth.round)
