"""LW301 dataset-cache."""

from lowwater.causes import _kinds, _words
from lowwater.causes._cause import Cause, Claim
from lowwater.causes._lines import datasets, filled, grew, risen
from lowwater.causes._paths import below, is_programs, line_of, name_of
from lowwater.model import Evidence, Holder, Tally

_ORDER_FIX = "Put `cache()` before `repeat()` and before random augmentation."
_ANEW_FIX = "Build the pipeline once, before the loop, and iterate over it again."
_KEPT_FIX = (
    "Build the pipeline once, before the loop. If every round needs its own, do not keep it: "
    "a cache lives as long as any data set that reads from it."
)
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
    """

    code = "LW301"
    name = "dataset-cache"
    fix = "If memory is short, keep the cache in a file: `dataset.cache(filename)`."
    is_mostly_native = True

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


def _caches(evidence: Evidence) -> list[Tally]:
    """Caches that live in memory."""
    return [cache for cache in datasets(evidence, "Cache") if "in a file" not in cache.about]
