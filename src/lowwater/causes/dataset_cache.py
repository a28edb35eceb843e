"""LW301 dataset-cache."""

import ast
from typing import TYPE_CHECKING

from lowwater.causes import _kinds, _words
from lowwater.causes._cause import Cause, Claim
from lowwater.causes._lines import datasets, filled, grew, risen
from lowwater.causes._paths import below, is_programs, line_of, name_of
from lowwater.model import Evidence, Holder, Tally

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lowwater.check.pipelines import PipelineStep, SourcePipeline
    from lowwater.check.source import Source
    from lowwater.model.source import SourceClaim

_ORDER_FIX = "Put `cache()` before `repeat()` and before random augmentation."
_ANEW_FIX = "Build the pipeline once, before the loop, and iterate over it again."
_KEPT_FIX = (
    "Build the pipeline once, before the loop. If every round needs its own, do not keep it: "
    "a cache lives as long as any data set that reads from it."
)
_ORDER_KEPT_FIX = (
    "Put `cache()` before `shuffle()`. To fix the order on purpose, write "
    "`shuffle(…, reshuffle_each_iteration=False)`."
)
_AUGMENT_FIX = "Put `cache()` before the `map` that augments at random."
# What picks elements by their order: it relies on an order that stays.
_PICKING = ("take", "skip", "shard", "window")
# A data set in a list may have no cache, but then there are fewer caches than new items.
_LEAST_CACHES = 0.5


class DatasetCache(Cause):
    """`Dataset.cache()` holds the whole data set in memory.

    This is its purpose: memory rises during the first epoch and then stays level.
    Two mistakes make it rise forever. After `repeat()` the data set never ends, so the cache
    is never complete. And a pipeline that is rebuilt in every epoch fills a new cache, which
    stays as long as something keeps the pipeline, such as a list.

    Leaks:

        dataset = tf.data.Dataset.range(1000).repeat().map(load).cache().batch(32)

    Stays flat:

        dataset = tf.data.Dataset.range(1000).map(load).cache().repeat().batch(32)

    Known problems:

        Whether a data set is large cannot be read. A data set that is made in another file and
        passed on through several objects is not followed.

    Fix safety:

        There is no automatic fix: moving `cache()` changes which elements an epoch sees.

    Applies to:

        TensorFlow 2.
    """

    code = "LW301"
    name = "dataset-cache"
    fix = "If memory is short, keep the cache in a file: `dataset.cache(filename)`."
    is_mostly_native = True
    words = (".cache(",)
    measured = "1.7 MiB per epoch in the specimen of this rule"

    def claims(self, holder: Holder, evidence: Evidence) -> bool:
        """The program keeps data sets, and there are as many more caches as these."""
        if not (is_programs(holder) and any(map(_kinds.is_dataset, below(holder)))):
            return False
        items = holder.counts[-1] - holder.counts[0]
        more = sum(risen(cache) for cache in _caches(evidence) if grew(cache, evidence))
        return more > 0 and more >= _LEAST_CACHES * items

    def account(self, holder: Holder, evidence: Evidence) -> Claim:
        """Who keeps the caches."""
        name = name_of(holder)
        rate = _words.rate(holder.counts, "cached data set", "cached data sets", evidence)
        message = f"`{name}` grows by {rate}, and each cache keeps its elements in memory."
        return Claim(message, line_of(holder), name, _KEPT_FIX)

    def in_rest(self, rest_bytes: int, evidence: Evidence) -> Claim | None:  # noqa: ARG002
        """A cache whose input never ends, or ever more caches."""
        caches = _caches(evidence)
        endless = next((cache for cache in caches if "endless" in cache.about), None)
        if endless is not None:
            message = "`cache()` comes after `repeat()`: its input never ends, so it keeps filling."
            return Claim(message, where=endless.where, holder="Dataset.cache", fix=_ORDER_FIX)
        more = next((cache for cache in caches if grew(cache, evidence)), None)
        if more is None:
            return None
        rate = _words.rise(more, "cached data set", "cached data sets", evidence)
        message = f"The number of live caches grows: {rate}."
        return Claim(message, where=more.where, holder="Dataset.cache", fix=_ANEW_FIX)

    def in_verdict(self, evidence: Evidence) -> Claim | None:
        """A cache that has filled."""
        cache = filled(_caches(evidence), evidence)
        if cache is None:
            return None
        message = "`cache()` filled once with the data set and no longer grows."
        return Claim(message, where=cache.where, holder="Dataset.cache")

    def find_in_source(self, source: "Source") -> "Iterator[SourceClaim]":
        """`cache()` after `repeat`, `shuffle` or a random `map`, or called again in each round."""
        meant = _evaluated(source)
        shuffled = meant | _reshuffled(source)
        for cache, before in source.steps_of("cache"):
            if not _is_in_memory(cache):
                continue
            claim = _costly(source, cache, before)
            if claim is None and cache.call not in meant:
                claim = _augmented(source, cache, before)
            if claim is None and cache.call not in shuffled:
                claim = _ordered(source, cache, before)
            if claim is not None:
                yield claim
        yield from _kept_caches(source)


def _costly(
    source: "Source", cache: "PipelineStep", before: "list[SourcePipeline]"
) -> "SourceClaim | None":
    """A cache that holds more than the data set, or holds it in vain."""
    if any(map(_is_endless, before)):
        return source.claim(
            cache,
            "`cache()` comes after `repeat()`: its input never ends, so it keeps filling.",
            label="every element of every pass stays in memory",
            fix=_ORDER_FIX,
        )
    times = next((often for way in before if (often := _times(source, way))), None)
    if times is not None:
        return source.claim(
            cache,
            f"`cache()` comes after `repeat({times})`, and keeps every element once for each pass.",
            label="the data set stays in memory several times",
            fix=_ORDER_FIX,
        )
    if _is_renewed(source, cache.call, before):
        return source.claim(
            cache,
            "`cache()` is called in each iteration: each new cache fills again.",
            label="all elements are kept in memory while the iteration lasts",
            fix=_ANEW_FIX,
        )
    return None


def _augmented(
    source: "Source", cache: "PipelineStep", before: "list[SourcePipeline]"
) -> "SourceClaim | None":
    """A cache that freezes random augmentation."""
    if not any(_is_augmented(source, way) for way in before):
        return None
    return source.claim(
        cache,
        "`cache()` comes after a random `map`: every epoch reads the elements of the first.",
        label="augmented once, not in every epoch",
        fix=_AUGMENT_FIX,
    )


def _ordered(
    source: "Source", cache: "PipelineStep", before: "list[SourcePipeline]"
) -> "SourceClaim | None":
    """A cache that freezes the order."""
    if not any(map(_is_shuffled, before)):
        return None
    return source.claim(
        cache,
        "`cache()` comes after `shuffle()`: every epoch reads the order of the first.",
        label="shuffled once, not in every epoch",
        fix=_ORDER_KEPT_FIX,
    )


def _evaluated(source: "Source") -> set[ast.Call]:
    """The caches that only evaluation reads: there neither order nor augmentation matters."""
    trained: set[ast.Call] = set()
    others: set[ast.Call] = set()
    for call in source.calls_of("fit", "evaluate", "predict"):
        named = {one.arg: one.value for one in call.keywords if one.arg is not None}
        data = call.args[0] if call.args else named.get("x")
        is_training = getattr(call.func, "attr", "") == "fit"
        (trained if is_training else others).update(_caches_in(source, data))
        others.update(_caches_in(source, named.get("validation_data")))
    return others - trained


def _caches_in(source: "Source", data: ast.expr | None) -> "Iterator[ast.Call]":
    for way in [] if data is None else source.pipelines(data):
        for step in way.steps:
            if step.name == "cache":
                yield step.call


def _is_in_memory(cache: "PipelineStep") -> bool:
    given = cache.given("filename")
    return given is None or (isinstance(given, ast.Constant) and not given.value)


def _is_endless(way: "SourcePipeline") -> bool:
    """Whether a cache is never complete: `repeat()`, and no `take(n)` after it."""
    for step in way.steps:
        if step.name == "take":
            return False
        if step.name == "repeat" and _has_no_end(step):
            return True
    return False


def _has_no_end(repeat: "PipelineStep") -> bool:
    given = repeat.given("count")
    if isinstance(given, ast.UnaryOp) and isinstance(given.op, ast.USub):
        given = given.operand
    elif isinstance(given, ast.Constant) and given.value is not None:
        return False
    return given is None or isinstance(given, ast.Constant)


def _times(source: "Source", way: "SourcePipeline") -> str | None:
    """How often `repeat(n)` before a cache passes on every element, if more than once."""
    for step in way.steps:
        given = step.given("count")
        if step.name in ("take", "cache"):
            return None
        if step.name == "repeat" and given is not None:
            is_once = isinstance(given, ast.Constant) and given.value in (0, 1)
            return None if is_once else source.text_of(given)
    return None


def _is_shuffled(way: "SourcePipeline") -> bool:
    """Whether the last thing that orders the elements is a shuffle that is not meant to stay."""
    for step in way.steps:
        if step.name in (*_PICKING, "cache"):
            return False
        if step.name == "shuffle":
            given = step.given("reshuffle_each_iteration", 2)
            return given is None
    return False


def _reshuffled(source: "Source") -> set[ast.Call]:
    """The caches behind which there is another shuffle."""
    return {
        step.call
        for _, before in source.steps_of("shuffle")
        for way in before
        for step in way.steps
        if step.name == "cache"
    }


def _is_augmented(source: "Source", way: "SourcePipeline") -> bool:
    """Whether elements are changed at random before they are cached."""
    for step in way.steps:
        if step.name == "cache":
            return False
        given = step.given("map_func")
        if step.name == "map" and given is not None and source.augments(given):
            return True
    return False


def _is_renewed(source: "Source", call: ast.Call, before: "list[SourcePipeline]") -> bool:
    """Whether a loop caches the same data set in each iteration: nothing of it is new."""
    loops = [one for one in source.rounds(call) if one.is_loop and not one.through]
    if not loops or len(before) != 1:
        return False
    [way], loop = before, loops[0]
    return (
        isinstance(way.start, ast.Name | ast.Attribute | ast.Call)
        and not loop.holds(way.start)
        and not any(source.is_of_round(name, loop) for name in _names(call))
        and not any(source.changes(step.call, loop) for step in way.steps)
        and not source.changes(call, loop)
    )


def _names(call: ast.Call) -> "Iterator[ast.Name]":
    return (one for one in ast.walk(call) if isinstance(one, ast.Name))


def _kept_caches(source: "Source") -> "Iterator[SourceClaim]":
    """Data sets with a cache of their own that are added to a container in each round."""
    for growth in source.growths:
        # A table of splits has names as keys, and is as long as it is meant to be.
        is_table = growth.key is not None and not source.is_number(growth.key)
        if "data set" not in growth.kinds or is_table:
            continue
        caches = [
            step
            for way in source.pipelines(growth.value)
            for step in way.steps
            if step.name == "cache" and _is_in_memory(step)
        ]
        if any(growth.round.holds(step.call) for step in caches):
            yield source.claim(
                growth.node,
                f"`{growth.name}` keeps a data set with a cache of its own "
                f"in every {growth.round.name}.",
                label="its elements stay in memory with it",
                fix=_KEPT_FIX,
            )


def _caches(evidence: Evidence) -> list[Tally]:
    """Caches that live in memory."""
    return [cache for cache in datasets(evidence, "Cache") if "in a file" not in cache.about]
