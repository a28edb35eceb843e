"""LW301 dataset-cache."""

from lowwater.causes import _words
from lowwater.causes._cause import Account, Cause
from lowwater.causes._lines import datasets, grew
from lowwater.model import Evidence, Kind, Tally

_ORDER_FIX = "Put `cache()` before `repeat()` and before random augmentation."
_ANEW_FIX = "Build the pipeline once, before the loop, and iterate over it again."


class DatasetCache(Cause):
    """`Dataset.cache()` holds the whole data set in memory.

    That is what it is for: memory rises through the first epoch and then stays level.
    Two mistakes make it rise for ever. Behind `repeat()` the data set has no end, so the cache
    is never complete. And a pipeline that is built anew in every epoch fills a new cache.

    Leaks:

        dataset = tf.data.Dataset.range(1000).repeat().map(load).cache().batch(32)

    Stays flat:

        dataset = tf.data.Dataset.range(1000).map(load).cache().repeat().batch(32)
    """

    code = "LW301"
    name = "dataset-cache"
    fix = "If memory is short, let the cache live in a file: `dataset.cache(filename)`."
    is_mostly_native = True

    def in_rest(self, rest_bytes: int, evidence: Evidence) -> Account | None:  # noqa: ARG002
        """A cache whose input never ends, or ever more caches."""
        caches = _caches(evidence)
        endless = next((cache for cache in caches if "endless" in cache.about), None)
        if endless is not None:
            message = "`cache()` stands behind `repeat()`: its input never ends, so it fills on."
            return Account(message, where=endless.where, holder="Dataset.cache", fix=_ORDER_FIX)
        more = next((cache for cache in caches if grew(cache, evidence)), None)
        if more is None:
            return None
        pace = _words.rise(more, "cached data set", "cached data sets", evidence)
        message = f"Ever more caches are alive: {pace}."
        return Account(message, where=more.where, holder="Dataset.cache", fix=_ANEW_FIX)

    def in_verdict(self, evidence: Evidence) -> Account | None:
        """A cache that has filled."""
        caches = _caches(evidence)
        if not caches or evidence.verdict.kind not in (Kind.CACHE, Kind.WARM_UP):
            return None
        message = "`cache()` has filled with the data set, once; from then on memory is level."
        return Account(message, where=caches[0].where, holder="Dataset.cache")


def _caches(evidence: Evidence) -> list[Tally]:
    """Caches that live in memory."""
    return [cache for cache in datasets(evidence, "Cache") if "in a file" not in cache.about]
