"""LW104 closure-capture."""

from typing import TYPE_CHECKING

from lowwater.causes import _kinds, _words
from lowwater.causes._cause import Cause, Claim
from lowwater.causes._paths import (
    below,
    function_name,
    is_in_framework,
    is_programs,
    line_of,
    name_of,
)
from lowwater.model import Evidence, Holder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lowwater.check.source import Source
    from lowwater.model.source import SourceClaim

_REFERS = ("closure ", "default ", "argument")
# A function that a library was given is found so many steps below its container.
_NEAR = 3
_GIVEN_FIX = (
    "Pass a function that does not refer to the object: a static method, or a module function "
    "that takes only what it needs; or unregister it when done."
)


class ClosureCapture(Cause):
    """Kept functions keep the data that they refer to.

    A lambda or an inner function keeps every outer variable that it uses,
    `functools.partial` keeps its arguments, and a default argument such as `seen=[]`
    is created once and shared by all calls.
    None of this looks like storing data, but a list of such functions is a list of their data.

    Leaks:

        reports = []
        for epoch in range(100):
            predictions = model.predict(x)
            reports.append(lambda: print(predictions.mean()))

    Stays flat:

        reports = []
        for epoch in range(100):
            mean = float(model.predict(x).mean())
            reports.append(lambda mean=mean: print(mean))

    Known problems:

        A function inside a tuple or a dict is not seen.
        A bound method, such as `model.predict`, is not seen.

    Fix safety:

        There is no automatic fix: what to keep instead is for you to decide.

    Applies to:

        Every program that uses TensorFlow, Keras, JAX or torch.
    """

    code = "LW104"
    name = "closure-capture"
    fix = "Compute what the function needs first, and let it refer only to the result."
    words = (".append", ".add(", "] =", ".setdefault", "+=", ".update(", ".insert(")
    words_beside = (
        "import numpy", "import tensorflow", "from tensorflow", "import torch", "import jax",
        ".predict(",
    )  # fmt: skip
    is_preview = True
    measured = "1.0 MiB per iteration in the specimen of this rule"

    def claims(self, holder: Holder, evidence: Evidence) -> bool:  # noqa: ARG002
        """The new items are functions, or the container itself belongs to a function."""
        if _is_given_away(holder):
            return True
        return is_programs(holder) and (_has_functions(holder) or _is_in_function(holder))

    def account(self, holder: Holder, evidence: Evidence) -> Claim:
        """Which functions keep what; or which default argument grows."""
        name, where = name_of(holder), line_of(holder)
        if _is_given_away(holder):
            return _given_away(holder, evidence)
        grows = _words.grows(holder, evidence)
        if _has_functions(holder):
            rate = _words.rate(holder.counts, "function", "functions", evidence)
            message = f"`{name}` grows by {rate}, and each keeps {_kept(holder)}."
            return Claim(message, where, name)
        if any(step.edge.startswith("default ") for step in holder.steps):
            fix = (
                "Default to `None` and create the list inside the function: a default is created "
                "only once."
            )
            return Claim(f"The default argument `{name}` {grows}.", where, name, fix)
        fix = "Pass the function what it needs as an argument, or empty the container when done."
        return Claim(f"`{name}`, which a closure keeps, {grows}.", where, name, fix)

    def find_in_source(self, source: "Source") -> "Iterator[SourceClaim]":
        """A kept function refers to data of its round, or a default value gathers data."""
        for growth in source.growths:
            data = source.data_of_function(growth.value, growth.round)
            if data is not None:
                name = source.text_of(data)
                yield source.claim(
                    growth.node,
                    f"`{growth.name}` keeps a function of every {growth.round.name}, and each "
                    f"keeps its `{name}`.",
                    label=f"the function refers to `{name}`, which stays in memory with it",
                )
        for grown in source.grown_defaults():
            yield source.claim(
                grown.node,
                f"`{grown.name}` is a default value, so all calls of `{grown.function.name}` share "
                "it, and it grows with each.",
                label="created once, and kept for as long as the function",
                fix=f"Let the caller pass it, or limit it: `{grown.name}=deque(maxlen=3)`.",
            )


def _is_given_away(holder: Holder) -> bool:
    """Functions of the program that Python itself keeps, to call them later.

    What frameworks keep is told by causes of their own.
    """
    if holder.is_users or is_in_framework(holder):
        return False
    return any(_kinds.is_function(step) and step.where for step in below(holder)[:_NEAR])


def _given_away(holder: Holder, evidence: Evidence) -> Claim:
    given = next(step for step in below(holder) if _kinds.is_function(step) and step.where)
    name = function_name(given)
    rate = _words.rate(holder.counts, "time", "times", evidence).replace("one time", "once", 1)
    message = (
        f"`{name}` is registered to be called later, {rate}, and each time it keeps "
        f"{_kept(holder)}."
    )
    return Claim(message, line_of(holder), name, _GIVEN_FIX)


def _has_functions(holder: Holder) -> bool:
    return any(_kinds.is_function(step) for step in below(holder)[:2])


def _is_in_function(holder: Holder) -> bool:
    """A function refers to it: by a variable around it, a default or a bound argument."""
    for step in reversed(holder.steps[: holder.container + 1]):
        if step.edge.startswith(_REFERS):
            return True
        if not _kinds.is_plain(step):
            return False
    return False


def _kept(holder: Holder) -> str:
    heavy = below(holder)[-1]
    return "the data it refers to" if _kinds.is_function(heavy) else _words.one(heavy)
