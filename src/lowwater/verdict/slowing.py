"""Whether a rise loses speed: what does is no leak yet, but may be a cache that fills."""

from lowwater.model.policy import POLICY
from lowwater.verdict.account import Account
from lowwater.verdict.asked import UNNOTED, Asked
from lowwater.verdict.segments import may_have_stopped, slope_error
from lowwater.verdict.trend import trend


def slows_down(account: Account, asked: Asked = UNNOTED) -> bool:
    """Whether the rise loses speed, or has lost it and goes on for a short time only."""
    early, late, error = _early_and_late(account)
    if asked.whether("Was it faster before?", has_slowed(account)):
        # What has slowed down once must be long since, and straight: a curve that dies away looks
        # at every scale like ramps that get flatter.
        past = account.begins - float(account.marks.x[0])
        return (
            asked.more_than("Can the rest be chance?", account.growth.p_rising, "by_chance")
            or asked.whether("Does it still slow down?", late + error < early)
            or asked.less_than(
                "Is the slower part still too short?",
                account.present.span,
                "alike",
                of=past,
            )
        )
    if len(account.present) < 2 * POLICY.enough_rounds:
        text = "Could the rise have stopped?"
        return asked.whether(text, may_have_stopped(account.present))
    text = "Is the last part much slower than the first?"
    return asked.less_than(text, late + error, "alike**-1", of=early)


def has_slowed(account: Account) -> bool:
    """Whether it rose faster before the present."""
    return account.rate_before is not None and account.rate_before > account.growth.slope


def _early_and_late(account: Account) -> tuple[float, float, float]:
    """The rates before and in the last part, and by how much noise may have bent the latter.

    Where too little is left before the last part, the rate of the whole stands for it.
    """
    present = account.present
    count = max(int(POLICY.late_share * len(present)), POLICY.fewest_marks)
    early, late = present.until(len(present) - count), present.skip(len(present) - count)
    before = trend(early if len(early) >= POLICY.fewest_marks else present).slope
    error = POLICY.standard_errors * slope_error(late, account.noise)
    return before, trend(late).slope, error
