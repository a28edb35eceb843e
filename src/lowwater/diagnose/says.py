"""The last column of the table of experiments."""

from lowwater.model import Kind
from lowwater.model.experiment import Difference, Effect, Measured

# How a reason is told that there is nothing to compare.
_WHY_NOT = {Effect.FAILED: "no result: ", Effect.UNTESTED: "not tested: "}


def says_of_base(base: Measured) -> str:
    """Of the program as it is."""
    if base.grows:
        return "leaks" if base.leaks else "fragmented: free memory stuck in the heap grows"
    return base.problem or (
        "too few rounds to judge" if base.kind is Kind.INCONCLUSIVE else f"{base.kind}: no leak"
    )


def says(cleared: str, blamed: str, difference: Difference) -> str:
    """Of a change: `cleared` where it makes no difference, `blamed` where it does."""
    match difference.effect:
        case Effect.STOPS:
            return f"growth stops: {blamed}"
        case Effect.LESS:
            return f"{round(100 * difference.share)} % less: {blamed}"
        case Effect.SAME:
            return cleared
        case Effect.MORE:
            return f"grows more: {cleared}"
    told = _WHY_NOT.get(difference.effect, "")
    return f"{told}{difference.because}"
