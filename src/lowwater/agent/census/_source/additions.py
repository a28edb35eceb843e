"""What is noted of a file: the lines that add, and where containers get another name."""

from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, NamedTuple

from lowwater.agent.census._source.scopes import Chain, Scope


class Certainty(IntEnum):
    """How surely a line makes its container larger."""

    GROWS = 0
    MAY_GROW = 1  # `x[0] = …` adds once at most
    REBINDS = 2  # `x = …`: another object takes the place


class Span(NamedTuple):
    """From where to where a piece of source reaches, as `ast` counts."""

    line: int
    column: int
    end_line: int
    end_column: int


class Spot(NamedTuple):
    """A place in the source, with the scope and the number of loops around it."""

    scope: Scope
    loops: int
    span: Span
    statement: Span | None  # where it begins in the same line


class Addition(NamedTuple):
    """A line that makes a container larger."""

    receiver: Chain
    spot: Spot
    certainty: Certainty = Certainty.GROWS
    stores_result: bool = False  # `d[key] = value` that neither counts nor sets up
    added: frozenset[str] = frozenset()  # names in what is added


class Flow(NamedTuple):
    """The same object under another name: `target = source`, or `target(source)`.

    For a call, `argument` is the position or the keyword, and `target` the function.
    """

    source: Chain
    source_scope: Scope
    target: Chain
    target_scope: Scope
    argument: int | str | None = None
    spot: Spot | None = None


@dataclass(slots=True)
class Index:
    """What is asked of a file: scopes by qualified name, all else by the last name of a chain."""

    scopes: dict[str, Scope] = field(default_factory=dict)
    additions: dict[str, list[Addition]] = field(default_factory=dict)
    flows_from: dict[str, list[Flow]] = field(default_factory=dict)
    flows_into: dict[str, list[Flow]] = field(default_factory=dict)

    def note_addition(self, addition: Addition) -> None:
        """File a line that adds."""
        self.additions.setdefault(addition.receiver.name, []).append(addition)

    def note_flow(self, flow: Flow) -> None:
        """File a second name for an object, under both names."""
        self.flows_from.setdefault(flow.source.name, []).append(flow)
        self.flows_into.setdefault(flow.target.name, []).append(flow)

    def file_also_under(self, original: str, name: str) -> None:
        """Let what is filed under a name be found under the one that another module gave it."""
        kinds: tuple[dict[str, list[Any]], ...] = (
            self.additions,
            self.flows_from,
            self.flows_into,
        )
        for lists in kinds:
            if name in lists:
                lists[original] = [*lists.get(original, ()), *lists[name]]
