"""Follows a recording while it grows, for the live line."""

from typing import Protocol

from lowwater.agent.observer import BY_TIME
from lowwater.model import Sample
from lowwater.model.gauges import in_use_bytes
from lowwater.recording.fold import Fold
from lowwater.recording.reader import Follower
from lowwater.report.live import live_text


class Line(Protocol):
    """One line of text that can be written anew."""

    @property
    def width(self) -> int:
        """Columns that it may have now."""

    def update(self, text: str) -> None:
        """Show this text in place of the last."""


class Progress:
    """Keeps the newest sample of each unit, and shows the coarsest unit on the move."""

    def __init__(self, recording: str, line: Line) -> None:
        """Read from this recording, write on this line."""
        self._follower = Follower(recording)
        self._line = line
        self._fold = Fold()
        self._first: dict[int, Sample] = {}
        self._latest: dict[int, Sample] = {}

    def look(self) -> None:
        """Read what is new and redraw."""
        for record in self._follower.new_records():
            self._fold.add(record)
        for sample in self._fold.samples:
            # The first round trip is warm-up: growth counts from its end.
            if sample.ordinal > 0:
                self._first.setdefault(sample.unit_id, sample)
            self._latest[sample.unit_id] = sample
        if self._fold.samples:
            self._fold.samples.clear()
            self._line.update(self._text())

    def _text(self) -> str:
        latest = self._shown()
        unit = self._fold.units[latest.unit_id]
        in_use = in_use_bytes(latest.gauges)
        name = "second" if unit.name == BY_TIME else unit.name
        return live_text(name, latest.ordinal, in_use, self._growth(latest), self._line.width)

    def _shown(self) -> Sample:
        """The coarsest unit that has made two round trips; the newest sample until then."""
        clock = [unit.id for unit in self._fold.units.values() if unit.name == BY_TIME]
        moving = [
            sample
            for sample in self._latest.values()
            if sample.ordinal > 1 and sample.unit_id not in clock
        ]
        if moving:
            return min(moving, key=lambda sample: sample.ordinal)
        return max(self._latest.values(), key=lambda sample: sample.elapsed_s)

    def _growth(self, latest: Sample) -> int | None:
        first = self._first.get(latest.unit_id, latest)
        start, end = in_use_bytes(first.gauges), in_use_bytes(latest.gauges)
        if start is None or end is None or latest.ordinal <= first.ordinal:
            return None
        return round((end - start) / (latest.ordinal - first.ordinal))
