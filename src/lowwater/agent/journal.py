"""Where all parts of the agent write: records, notes and facts, until it is closed."""

from collections.abc import Mapping
from typing import Any

from lowwater.agent.clocks import Clocks
from lowwater.model import Topic
from lowwater.recording.records import FactsTold, Learned, Noted, Record
from lowwater.recording.writer import Writer

# Further notes tell the reader nothing new.
_MOST_NOTES = 200
_LONGEST_NOTE = 1000

InChild = list[tuple[Any, ...]]


class Journal:
    """The recording as the agent sees it, with the time since the run began.

    It is made first and knows none of those who write.
    """

    def __init__(
        self, writer: Writer, clocks: Clocks | None = None, began_s: float | None = None
    ) -> None:
        """The run began when the supervisor launched it, or begins now."""
        self._writer = writer
        self._noted: set[str] = set()
        self.clocks = clocks or Clocks()
        self.began_s = self.clocks.wall() if began_s is None else began_s
        self.is_on = True
        # What a forked child does first: functions written in C, and what they are given. The
        # recording is its parent's.
        self.in_child: InChild = [(setattr, self, "is_on", False)]

    def elapsed_us(self, now_s: float) -> int:
        """Microseconds from the start of the run until this moment."""
        return round((now_s - self.began_s) * 1e6)

    def append(self, record: Record, elapsed_us: int = 0) -> None:
        """Write a record of the round that is being observed."""
        self._writer.append(record, elapsed_us)

    def record(self, record: Record) -> None:
        """Write a record, unless this is a forked child."""
        if self.is_on:
            self._writer.append(record)

    def learn(self, environment: dict[str, str]) -> None:
        """Record facts about the environment that became known."""
        self.record(Learned(environment))

    def tell_facts(self, facts: Mapping[str, Any]) -> None:
        """Record what an experiment shows of the program."""
        self.record(FactsTold({str(name): fact for name, fact in facts.items()}))

    def note(self, text: str, topic: Topic = Topic.PROGRAM) -> None:
        """Record a sentence, once."""
        text = text[:_LONGEST_NOTE]
        if self.is_on and text not in self._noted and len(self._noted) < _MOST_NOTES:
            self._noted.add(text)
            self._writer.append(Noted(self.elapsed_us(self.clocks.wall()), text, topic))

    def close(self) -> None:
        """Write nothing from now on."""
        self.is_on = False
        self._writer.close()
