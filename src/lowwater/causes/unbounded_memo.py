"""LW107 unbounded-memo."""

from typing import TYPE_CHECKING

from lowwater.causes import _kinds, _words
from lowwater.causes._cause import Cause, Claim
from lowwater.causes._paths import above, container, function_name, is_programs, line_of, name_of
from lowwater.model import Evidence, Holder, Step

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterator

    from lowwater.check.scopes import SourceScope
    from lowwater.check.source import Source
    from lowwater.model.source import SourceClaim

_MEMOS = ("functools.lru_cache", "functools.cache")
_DATA = frozenset({"array", "arrays", "tensor", "model", "data set"})


class UnboundedMemo(Cause):
    """A memo has no size limit, and its key changes in every round.

    `functools.cache` and `lru_cache(maxsize=None)` keep the result of every different call.
    If one argument is new in each epoch, such as the epoch itself or a new object,
    no result is ever reused, and none is ever dropped.
    A dict that you fill with `if key not in results` does the same.

    Leaks:

        @functools.lru_cache(maxsize=None)
        def load_batch(index, epoch):
            return read_and_augment(index, epoch)

    Stays flat:

        @functools.lru_cache(maxsize=64)
        def load_batch(index):
            return read(index)

    Known problems:

        A function that is called from another file only is not judged: the rounds of its
        arguments are not known.
        A dict is taken for a memo only if the function that fills it also looks up the same
        key.

    Fix safety:

        There is no automatic fix: which size is enough is for you to decide.

    Applies to:

        Every program that uses TensorFlow, Keras, JAX or torch.
    """

    code = "LW107"
    name = "unbounded-memo"
    fix = (
        "Limit the size of the memo, `lru_cache(maxsize=64)`, or leave what changes out of its key."
    )
    words = ("lru_cache", "functools.cache", "import cache", "] =", ".setdefault(")
    words_beside = (
        "import numpy", "import tensorflow", "from tensorflow", "import torch", "import jax",
        ".predict(",
    )  # fmt: skip
    is_preview = True
    measured = "about 1.0 MiB per iteration in the specimen of this rule"

    def claims(self, holder: Holder, evidence: Evidence) -> bool:  # noqa: ARG002
        """The container is the table of an `lru_cache`, or a dict that is filled like one."""
        if _memo(holder) is not None:
            return True
        is_table = "dict" in _kinds.class_name(container(holder).type).lower()
        return is_programs(holder) and is_table and any(site.is_memo for site in holder.sites)

    def account(self, holder: Holder, evidence: Evidence) -> Claim:
        """Which memo it is, and how fast it grows."""
        name, memo = name_of(holder), _memo(holder)
        rate = _words.rate(holder.counts, "entry", "entries", evidence)
        if memo is None:
            fix = "Drop old entries, or leave what changes in every round out of the key."
            message = f"The memo `{name}` grows by {rate}: its keys never repeat."
            return Claim(message, line_of(holder), name, fix)
        message = (
            f"The cache of `{function_name(memo)}` grows by {rate}: its arguments never repeat."
        )
        return Claim(message, where=memo.where or line_of(holder), holder=name)

    def find_in_source(self, source: "Source") -> "Iterator[SourceClaim]":
        """A memo of arrays or models has a new key in each round, or keeps objects by a method."""
        for decorator, function in source.decorated_by(*_MEMOS):
            if source.is_method(function):
                yield from _of_method(source, decorator, function)
            elif source.is_unbounded_memo(decorator):
                yield from _of_function(source, decorator, function)
        for growth in source.growths:
            if (
                growth.key is not None
                and growth.is_memo
                and growth.is_heavy
                and growth.is_worked_through
            ):
                key = source.text_of(growth.key)
                yield source.claim(
                    growth.node,
                    f"`{growth.name}` keeps {growth.what} for every `{key}`, and each "
                    f"{growth.round.name} has a new one.",
                    label="is never looked up again, and never dropped",
                )


def _memo(holder: Holder) -> Step | None:
    return next((step for step in reversed(above(holder)) if _kinds.is_memo(step)), None)


def _of_function(
    source: "Source", decorator: "ast.expr", function: "SourceScope"
) -> "Iterator[SourceClaim]":
    """A memo without a limit: some argument is new in each of the coarsest rounds."""
    kinds = frozenset(kind for value in function.returns for kind in source.kinds(value))
    if not kinds & _DATA:
        return
    for call in source.names.calls_of_function(function):
        for repeated in source.rounds(call)[-1:]:
            given = (*call.args, *(one.value for one in call.keywords))
            new = next((one for one in given if source.changes(one, repeated)), None)
            if new is not None:
                yield source.claim(
                    decorator,
                    f"`{function.name}` keeps every result, and `{source.text_of(new)}` is new "
                    f"in every {repeated.name}.",
                    label="no limit: results that are never asked for again stay in memory",
                )
                return


def _of_method(
    source: "Source", decorator: "ast.expr", method: "SourceScope"
) -> "Iterator[SourceClaim]":
    """A memo of a method keeps each object that it was called on."""
    cls = method.outer
    if cls is None or not source.has_heavy_fields(cls):
        return
    for call in source.calls_that_make(cls):
        for repeated in source.rounds(call)[-1:]:
            yield source.claim(
                decorator,
                f"`{method.name}` keeps every `{cls.name}` it was called on: one per "
                f"{repeated.name}.",
                label="`self` is part of the key, so the memo keeps the object with its data",
                fix="Use `functools.cached_property`, or memoise a function that gets the data.",
            )
            return
