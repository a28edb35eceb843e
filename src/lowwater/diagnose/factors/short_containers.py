"""Let containers stay short that the program adds to."""

from lowwater.diagnose.change import Change
from lowwater.diagnose.factors._factor import Factor
from lowwater.diagnose.facts import Facts

# A third of the rounds of a run: what comes then is enough to see whether it is level.
_LATE = 4


class _Containers(Factor):
    """What both ways have in common."""

    blamed = "what your containers keep"
    cleared = "not what your containers keep"
    asks = "cut"
    # What a callback, or a pipeline, keeps in a container goes with it as well.
    covers = ("callbacks", "one-batch", "generator", "same-model")

    def why_not(self, facts: Facts) -> str | None:
        """Some line has to be suspected."""
        return None if facts.additions else "no line is known that adds to a container"

    def parts(self, facts: Facts) -> dict[str, str]:
        """Each line."""
        return {where: f"what `{what}` keeps ({where})" for where, what in facts.additions.items()}

    def all_blamed(self, facts: Facts) -> str:
        """They may hold the same things, so that none alone lets them go."""
        told = [f"`{what}` ({where})" for where, what in facts.additions.items()]
        first, last = told[:-1], told[-1]
        return f"what {', '.join(first)} and {last} keep together" if first else self.blamed

    def places(self, facts: Facts, detail: str) -> tuple[str, ...]:
        """All of them, or the one that is named."""
        return (detail,) if detail else tuple(facts.additions)

    def wanted(self, facts: Facts, detail: str) -> str:
        """The lines."""
        return "\n".join(self.places(facts, detail))


class LateContainers(_Containers):
    """They grow for some rounds, where the program needs a number of items, and then no more."""

    key = "late-containers"
    name = "your containers stop growing"

    def part_name(self, detail: str) -> str:
        """What is there by then stays."""
        return f"stops growing: {detail}"

    def apply(self, change: Change, detail: str) -> None:
        """When the files of the program are loaded."""
        change.keep_short(detail.splitlines(), after_rounds=_LATE)


class ShortContainers(_Containers):
    """At the lines that the findings of the first run name; the first items and the newest stay."""

    key = "containers"
    name = "your containers kept short"
    instead = LateContainers()

    def part_name(self, detail: str) -> str:
        """The line stays, it is what it adds that goes."""
        return f"kept short: {detail}"

    def apply(self, change: Change, detail: str) -> None:
        """When the files of the program are loaded."""
        change.keep_short(detail.splitlines())
