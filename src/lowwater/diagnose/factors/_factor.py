"""What one factor of an experiment is."""

from collections.abc import Mapping
from typing import Any, ClassVar

from lowwater.diagnose.change import Change
from lowwater.diagnose.facts import Facts


class Factor:
    """Changes one thing and nothing else.

    `name` stands in the table, `cleared` is said where the change makes no difference, and
    `blamed` where it does. `codes` are the causes that it confirms where it helps, and
    `rejects` those that it takes away for sure: where it does not help, they are not at work.
    `covers` are the keys of more special factors: what goes with those goes with this one too.
    `after` are those that name a culprit better, and come first where both are in question.
    `partner` is the key of one that may hold the same: where little goes, both are made at once.
    `instead` is tried where the program cannot be run with the change; it `asks` the same.
    With `changes_amount` less is made, by whatever: that tells nothing about who holds it, so
    `codes` are causes which say that too much is made.
    """

    key: ClassVar[str]
    name: ClassVar[str]
    cleared: ClassVar[str]
    blamed: ClassVar[str]
    codes: ClassVar[tuple[str, ...]] = ()
    rejects: ClassVar[tuple[str, ...]] = ()
    covers: ClassVar[tuple[str, ...]] = ()
    after: ClassVar[tuple[str, ...]] = ()
    partner: ClassVar[str] = ""
    instead: "ClassVar[Factor | None]" = None
    asks: ClassVar[str] = ""
    changes_amount: ClassVar[bool] = False
    # Whether it changes how much of the heap is holes, and not what is in use.
    is_about_holes: ClassVar[bool] = False
    # Whether a leak would not be changed by it at all.
    is_only_about_holes: ClassVar[bool] = False

    def variables(self) -> Mapping[str, str]:
        """What the process has to have in its environment when it starts."""
        return {}

    @property
    def question(self) -> str:
        """The same for a factor and the one that is tried in its place."""
        return self.asks or self.key

    def codes_in(self, facts: Facts) -> tuple[str, ...]:  # noqa: ARG002
        """The causes that it speaks about, in this program."""
        return self.codes

    def tests(self, facts: Facts, detail: str) -> tuple[str, ...]:  # noqa: ARG002
        """The very findings that it takes away, where it is made for them."""
        return ()

    def how(self, facts: Facts, detail: str) -> str:  # noqa: ARG002
        """When the growth goes, where the name of the experiment does not say what was done."""
        return ""

    def not_made(self, told: Mapping[str, Any], wanted: str) -> str:  # noqa: ARG002
        """Why the change has come to nothing in a run, by what is known of that; mostly it has."""
        return ""

    def left_out(self, told: Mapping[str, Any], wanted: str) -> str:  # noqa: ARG002
        """What of the change could not be made in a run."""
        return ""

    def seen_facts(self, facts: Facts, told: Mapping[str, Any], wanted: str) -> Facts:  # noqa: ARG002
        """What is known now of what was changed, by what a run says."""
        return facts

    def parts(self, facts: Facts) -> dict[str, str]:  # noqa: ARG002
        """What can be left out one by one where the whole helps: detail -> how it is called."""
        return {}

    def all_blamed(self, facts: Facts) -> str:  # noqa: ARG002
        """What is told where the whole helps, and perhaps no part of it alone."""
        return self.blamed

    def part_name(self, detail: str) -> str:
        """How the experiment with one part is called."""
        return f"without {detail}"

    def places(self, facts: Facts, detail: str) -> tuple[str, ...]:  # noqa: ARG002
        """What the change takes away, as far as its lines are known: `train.py:7-19`."""
        return ()

    def wanted(self, facts: Facts, detail: str) -> str:  # noqa: ARG002
        """What `apply` is given as `detail`."""
        return detail

    def why_not(self, facts: Facts) -> str | None:  # noqa: ARG002
        """Why there is nothing to change in this program; None if there is."""
        return None

    def why_not_part(self, facts: Facts, detail: str) -> str | None:
        """The same for one part of it."""
        is_known = not detail or detail in self.parts(facts)
        return self.why_not(facts) if is_known else "there is nothing to change"

    def apply(self, change: Change, detail: str) -> None:
        """Make the change, inside of the program; `detail` narrows it down."""
