"""How far a map has come: a bar on the terminal or in the notebook, nothing elsewhere."""

from collections.abc import Iterator
from contextlib import contextmanager

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.progress import Progress as RichProgress

from lowwater.isolation.outcome import TrialOutcome
from lowwater.model.units import format_bytes
from lowwater.report.screen import Screen, column


class ProgressBar:
    """Counts trials, and shows the highest peak and the failures."""

    def __init__(self, rich: RichProgress, total: int) -> None:
        """Draw on this."""
        self._rich = rich
        self._task = rich.add_task("trials", total=total, story="")
        self._peak_bytes = 0
        self._failed = 0

    def start(self, done: int) -> None:
        """So many were done in an earlier run."""
        self._rich.update(self._task, completed=done)

    def tell(self, outcome: TrialOutcome) -> None:
        """One more is done."""
        self._peak_bytes = max(self._peak_bytes, outcome.memory.peak_bytes or 0)
        self._failed += outcome.error is not None
        self._rich.update(self._task, advance=1, story=self._story())

    def _story(self) -> str:
        peak = f"highest peak {format_bytes(self._peak_bytes)}" if self._peak_bytes else ""
        return f"{peak}, {self._failed} failed" if self._failed else peak


@contextmanager
def progress_bar(total: int, *, wanted: bool | None) -> Iterator[ProgressBar]:
    """A bar where somebody looks; `wanted` decides where it is given."""
    console = Screen(stderr=True)
    shown = (console.is_terminal or console.is_jupyter) if wanted is None else wanted
    columns = (
        column("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        column("{task.fields[story]}"),
    )
    with RichProgress(*columns, console=console, disable=not shown) as rich:
        yield ProgressBar(rich, total)
