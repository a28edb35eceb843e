"""LW107 unbounded-memo."""

from lowwater.causes import _kinds, _words
from lowwater.causes._cause import Cause, Claim
from lowwater.causes._paths import above, container, function_name, is_programs, line_of, name_of
from lowwater.model import Evidence, Holder, Step


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
    """

    code = "LW107"
    name = "unbounded-memo"
    fix = (
        "Limit the size of the memo, `lru_cache(maxsize=64)`, or leave what changes out of its key."
    )

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


def _memo(holder: Holder) -> Step | None:
    return next((step for step in reversed(above(holder)) if _kinds.is_memo(step)), None)
