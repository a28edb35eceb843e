"""Holds down what looking for a cause costs, in processor time."""

from lowwater.model.policy import Policy

# Until a census was taken: it takes about as long as this many collections. 4 were measured after
# a Keras `fit`, and up to 13 where there are few objects but the program's own.
_CENSUS_IN_COLLECTIONS = 4


class Brake:
    """Compares what collections and censuses have taken with what the program has.

    Both are processor time: waiting for a busy machine costs nothing.
    """

    def __init__(self, policy: Policy) -> None:
        """Nothing spent yet."""
        self._policy = policy
        self._latest_collection_s = 0.0
        self._latest_census_s = 0.0
        self.collecting_s = 0.0
        self.census_s = 0.0

    @property
    def spent_s(self) -> float:
        """All collections and censuses."""
        return self.collecting_s + self.census_s

    def allows_collection(self, process_s: float, *, with_credit: bool) -> bool:
        """Whether a collection fits in: half of what may be spent is theirs in any case.

        A census tells who holds the memory. Whether it is held at all, a collection tells.
        """
        left_s = self.left_s(process_s, with_credit=with_credit)
        theirs_s = (left_s + self.spent_s) / 2 - self.collecting_s
        return self._latest_collection_s <= max(left_s, theirs_s)

    def allows_census(self, left_s: float, *, leaving: int = 0) -> bool:
        """Whether a census fits in, and leaves room for `leaving` more."""
        needed_s = self._latest_census_s or _CENSUS_IN_COLLECTIONS * self._latest_collection_s
        return (1 + leaving) * needed_s <= left_s

    def allows_last_census(self, process_s: float) -> bool:
        """Whether one may overdraw that has no later chance, by a share of the program's own time.

        Not by seconds alone: on a busy machine all takes longer, the program and the census alike.
        And how many collections there were must not decide whether a cause can be named.
        """
        own_s = process_s - self.spent_s
        may_spend_s = max(self._policy.overdraft_s, self._policy.overdraft * own_s)
        return self.census_s + self._latest_census_s <= may_spend_s

    def left_s(self, process_s: float, *, with_credit: bool) -> float:
        """What may still be spent; the processor time of the process has our own in it."""
        own_s = process_s - self.spent_s
        credit_s = self._credit_s(own_s) if with_credit else 0.0
        return credit_s + self._policy.share * own_s - self.spent_s

    def _credit_s(self, own_s: float) -> float:
        """The start credit, larger on a slow or busy machine.

        How long a collection takes tells how slow it is; or that there are very many objects,
        and then a program that is short itself is spared.
        """
        at_this_pace_s = self._policy.credit_collections * self._latest_collection_s
        return max(self._policy.credit_s, min(at_this_pace_s, self._policy.credit_share * own_s))

    def collected(self, took_s: float) -> None:
        """Book a collection."""
        self._latest_collection_s = took_s
        self.collecting_s += took_s

    def counted(self, took_s: float) -> None:
        """Book a census."""
        self._latest_census_s = took_s
        self.census_s += took_s
