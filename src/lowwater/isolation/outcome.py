"""What became of one trial: its value or its error, and the story of its memory."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lowwater.model.autopsy import Autopsy
from lowwater.model.units import format_bytes, format_duration


@dataclass(frozen=True, slots=True)
class DriverStory:
    """One GPU as its driver counts it, in bytes; None where it could not be measured.

    `taken_bytes` is what the trial's process took, its context included, when it had its result.
    `left_bytes` is what the driver still counts for that process when the call returns: 0 proves
    that all of it came back. `free_before_bytes` and `free_after_bytes` are free for anybody, so
    they also change when others take memory meanwhile.
    """

    taken_bytes: int | None = None
    left_bytes: int | None = None
    free_before_bytes: int | None = None
    free_after_bytes: int | None = None
    not_measured: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class MemoryStory:
    """The memory of one trial, in bytes; None where it could not be measured.

    `peak_bytes` is the most that its process had resident, what it shares with the process that
    it was forked from included. `in_use_bytes`, `resident_bytes` and `devices` are as it ended.
    `parent_grown_bytes` is what the caller's memory in use had grown by when the trial was gone,
    before its result was unpacked. `driver` has each GPU by its number in `lowwater gpu`, as
    `"GPU 0"`; it is empty where the driver does not answer.
    """

    peak_bytes: int | None = None
    in_use_bytes: int | None = None
    resident_bytes: int | None = None
    devices: Mapping[str, int] = field(default_factory=dict)
    limit_bytes: int | None = None
    limited_by: str | None = None
    parent_grown_bytes: int | None = None
    driver: Mapping[str, DriverStory] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TrialOutcome:
    """One trial. `value` is None where there is an `error`."""

    value: Any = None
    error: BaseException | None = None
    memory: MemoryStory = field(default_factory=MemoryStory)
    elapsed_s: float = 0.0
    attempts: int = 1
    # How its process came to be: "fork", "spawn" with the reason, or "results file".
    started: str = ""
    # With `on_oom`: the configuration that was used in the end, and how often it was made smaller.
    config: Any = None
    reductions: int = 0

    @property
    def autopsy(self) -> Autopsy | None:
        """Why memory ran out, where it did."""
        found = getattr(self.error, "autopsy", None)
        return found if isinstance(found, Autopsy) else None

    def get(self) -> Any:  # noqa: ANN401 - what the function returned
        """The value; raises the error if there is one."""
        if self.error is not None:
            raise self.error
        return self.value

    def __str__(self) -> str:
        end = f"raised {type(self.error).__name__}" if self.error is not None else "returned"
        peak = self.memory.peak_bytes
        told = f", peak {format_bytes(peak)}" if peak is not None else ""
        times = "once" if self.reductions == 1 else f"{self.reductions} times"
        less = f", made smaller {times} to fit into memory" if self.reductions else ""
        driver = [_told_driver(name, story) for name, story in self.memory.driver.items()]
        return f"{end} after {format_duration(self.elapsed_s)}{told}{less}{''.join(driver)}"


def _told_driver(name: str, story: DriverStory) -> str:
    """What of a GPU came back; nothing for one that was not used."""
    if story.left_bytes:
        return f"; {format_bytes(story.left_bytes)} of {name} are still taken"
    if story.taken_bytes is None and story.left_bytes == 0:
        return f"; nothing of {name} is still taken"
    if not story.taken_bytes:
        return ""
    if story.left_bytes is None:
        return f"; took {format_bytes(story.taken_bytes)} of {name}"
    return f"; {format_bytes(story.taken_bytes)} of {name} returned to the driver"
