"""What is known of an out-of-memory: what was seen when it happened, and what it comes to."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from typing import Any, Final

from lowwater.model.holding import Holding
from lowwater.model.judged import Question
from lowwater.model.out_of_memory import AllocationRequest

# What the memory of a process may end at, and where the host's pool is told of in `in_use_bytes`:
# to the host it is a part of malloc.
MACHINE: Final = "the machine's memory"
GROUP: Final = "the control group"
IN_HOST_POOL: Final = "pool"
# What a reader would read, and a recording has room for.
MOST_HELD: Final = 12


class Manner(StrEnum):
    """Why memory ran out."""

    LEAK = "leak"
    TOO_BIG = "too big"
    FRAGMENTED = "fragmented"
    INCONCLUSIVE = "inconclusive"


@dataclass(frozen=True, slots=True)
class Pool:
    """The pool that found no room, as it was at that moment.

    `size_bytes` is what it had taken from the system, `free_bytes` what of that was in no use, and
    `largest_free_bytes` the largest piece of it. `limit_bytes` is the most that it may take.
    """

    name: str
    size_bytes: int
    in_use_bytes: int
    free_bytes: int
    largest_free_bytes: int
    free_pieces: int
    limit_bytes: int | None = None

    @property
    def available_bytes(self) -> int:
        """What was free, and what it might still have taken."""
        return max(self.free_bytes, (self.limit_bytes or 0) - self.in_use_bytes)


@dataclass(frozen=True, slots=True)
class LimitSeen:
    """What the memory of the process ends at, and how much was in use of it."""

    name: str
    limit_bytes: int
    used_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class Scene:
    """What was seen where memory ran out, by whoever was left to look.

    `in_use_bytes` is what was in use in each place when the step that failed had given back its
    own: a step that failed keeps nothing. `request` is None where the process was killed.
    """

    elapsed_s: float = 0.0
    request: AllocationRequest | None = None
    pool: Pool | None = None
    in_use_bytes: Mapping[str, int] = field(default_factory=dict)
    held: tuple[Holding, ...] = ()
    limits: tuple[LimitSeen, ...] = ()
    notes: tuple[str, ...] = ()


def beside(before: Scene | None, now: Scene) -> Scene:
    """What was seen inside, completed by what was seen from outside; a file may hold more."""
    now = replace(now, held=now.held[:MOST_HELD], limits=now.limits[:MOST_HELD])
    now = replace(now, notes=now.notes[:MOST_HELD])
    return now if before is None else replace(before, limits=before.limits or now.limits)


@dataclass(frozen=True, slots=True)
class Autopsy:
    """Why memory ran out, with the reason, and all that the reason was taken from.

    `limit_bytes` is what there was in `place`, `in_use_bytes` what of it was in use when it failed.
    `largest_batch` is at most what would have fitted, where that can be said; `commands` are what
    to type next.
    """

    manner: Manner
    because: str
    place: str
    request: AllocationRequest | None = None
    limit_name: str | None = None
    limit_bytes: int | None = None
    in_use_bytes: int | None = None
    kept_bytes: int | None = None
    pool: Pool | None = None
    held: tuple[Holding, ...] = ()
    held_note: str = ""
    batch_size: int | None = None
    largest_batch: int | None = None
    about_batch: str = ""
    advice: str = ""
    commands: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    # For `lowwater report --why`: the first with a yes has decided.
    questions: tuple[Question, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The same as plain dictionaries, lists, strings and numbers, for JSON."""
        plain = asdict(replace(self, questions=()))
        del plain["questions"]
        plain["manner"] = self.manner.value
        if self.request is not None:
            plain["request"]["shape"] = list(self.request.shape) if self.request.shape else None
        plain["held"] = [*plain["held"]]
        plain["commands"], plain["notes"] = [*self.commands], [*self.notes]
        return plain

    def __str__(self) -> str:
        from lowwater.model.autopsy_text import lines

        return "\n".join(lines(self))
