"""How far a diagnosis has come: a bar on a terminal, a line for each run elsewhere."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from rich.progress import BarColumn, Progress, SpinnerColumn

from lowwater.model.experiment import NOT_NEEDED, Experiment
from lowwater.model.printable import one_line
from lowwater.model.units import format_duration
from lowwater.report.experiments import growth
from lowwater.report.screen import Screen, column

# What the name of a run and the bar leave of a terminal.
_NARROWER = 60
_NARROWEST = 20


class ExperimentsBar:
    """Told of each run; also the line that tells of the present one."""

    def __init__(self, bar: Progress) -> None:
        """Draw on this."""
        self._bar = bar
        self._task = bar.add_task("", total=None, left="", live="")
        self._each_s = 0.0
        self._runs = 0
        self._made = 0
        self._began_s = time.monotonic()

    @property
    def width(self) -> int:
        """Columns for the story of the present run."""
        return max(_NARROWEST, self._bar.console.width - _NARROWER)

    def update(self, text: str) -> None:
        """Show how far the present run is."""
        self._bar.update(self._task, live=one_line(text).removeprefix("lowwater · "))
        self._advance()

    def begins(self, name: str) -> None:
        """A run is about to start."""
        self._began_s = time.monotonic()
        self._bar.update(self._task, description=one_line(name), live="")
        self._advance()

    def expects(self, base: Experiment, runs: int) -> None:
        """So many runs follow, each about as long as the first."""
        self._each_s = base.measured.elapsed_s if base.measured is not None else 0.0
        self._runs = runs
        told = format_duration(runs * self._each_s)
        more = f"Up to {runs} more runs, about {told}." if runs else ("No experiment applies.")
        self._say(more)
        self._bar.update(self._task, total=runs * self._each_s)

    def done(self, one: Experiment) -> None:
        """A line of the table is complete."""
        if one.measured is None:
            # It was counted before, and is not needed now.
            self._runs -= one.says == NOT_NEEDED
            return
        self._made += bool(one.key)
        took = format_duration(one.measured.elapsed_s)
        self._say(f"{one.name} ({took}): {growth(one.measured)}, {one.says}")

    @contextmanager
    def paused(self) -> Iterator[None]:
        """For a question: what is typed must not be drawn over."""
        self._bar.stop()
        try:
            yield
        finally:
            self._bar.start()

    def refresh(self) -> None:
        """Draw now, and not only several times a second."""
        self._bar.refresh()

    def _advance(self) -> None:
        if not self._runs:
            return
        # A run that takes longer than expected must not look like the next one.
        part_s = min(time.monotonic() - self._began_s, 0.95 * self._each_s)
        runs = max(self._runs, self._made + 1)
        done_s, total_s = self._made * self._each_s + part_s, runs * self._each_s
        left = f"{self._made + 1} of {runs}, {format_duration(max(0.0, total_s - done_s))} left"
        self._bar.update(self._task, completed=done_s, total=total_s, left=left)

    def _say(self, text: str) -> None:
        self._bar.console.print(one_line(text), soft_wrap=True)


@contextmanager
def experiments_bar(stream: TextIO) -> Iterator[ExperimentsBar]:
    """For the time of a diagnosis."""
    console = Screen(file=stream)
    columns = (
        SpinnerColumn(),
        column("{task.description}"),
        BarColumn(bar_width=20),
        column("{task.fields[left]}"),
        column("{task.fields[live]}", style="dim"),
    )
    bar = Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
    with bar:
        yield ExperimentsBar(bar)
