"""Puts the parts together: watch a program, judge its recording. Decides nothing itself."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from subprocess import Popen
from typing import TextIO

from lowwater.errors import UnreadableInput
from lowwater.model import Diagnosis, Ending, Evidence, Timeline
from lowwater.native_trace.sites import add_sites
from lowwater.recording.reader import load
from lowwater.supervisor import Outcome, supervise


def watch(
    child: Popen[bytes], recording: str, progress_on: TextIO | None = None
) -> tuple[Diagnosis, Outcome]:
    """Stay with a program that was launched, and judge what was seen, however it ended."""
    with _looking(recording, progress_on) as on_look:
        outcome = supervise(child, recording, on_look)
    problem = add_sites(recording, outcome.ended.elapsed_us)
    if problem is not None:
        outcome = replace(outcome, notes=(*outcome.notes, problem))
    try:
        timeline = load(recording)
    except UnreadableInput as error:  # the disk was full from the start
        timeline = Timeline()
        outcome = replace(outcome, notes=(str(error), *outcome.notes))
    timeline = replace(timeline, ending=timeline.ending or _ending(outcome))
    return diagnose(timeline, outcome.notes), outcome


def diagnose(timeline: Timeline, notes: tuple[str, ...] = ()) -> Diagnosis:
    """Judge a recording."""
    from lowwater.causes import find_causes
    from lowwater.verdict import book, judge  # NumPy: loaded while the program runs
    from lowwater.verdict.lines import with_lines

    timeline = with_lines(timeline)
    verdict, by_unit = judge(timeline)
    ledger = book(timeline, verdict.unit)
    evidence = Evidence(
        verdict,
        timeline.censuses,
        timeline.holders,
        timeline.tallies,
        timeline.environment,
        ledger,
        sum(collection.freed_bytes for collection in timeline.collections),
        timeline.native_trace,
    )
    return Diagnosis(
        verdict=verdict,
        units=by_unit,
        findings=find_causes(evidence),
        ledger=ledger,
        notes=(*(note.text for note in timeline.notes), *notes),
        environment=timeline.environment,
        footprint=timeline.footprint,
        ending=timeline.ending,
        mended=timeline.mended,
    )


def _ending(outcome: Outcome) -> Ending:
    ended = outcome.ended
    return Ending(
        ended.elapsed_us / 1e6,
        ended.exit_code,
        ended.signal,
        ended.out_of_memory,
        ended.peak_rss_bytes,
    )


@contextmanager
def _looking(recording: str, stream: TextIO | None) -> Iterator[Callable[[], None]]:
    """What to do twice a second: keep the live line, where there is a terminal."""
    if stream is None or not stream.isatty():
        yield _load_early
        return
    from lowwater.progress import Progress
    from lowwater.report.live import LiveLine

    with LiveLine(stream) as line:
        progress = Progress(recording, line)

        def look() -> None:
            _load_early()
            progress.look()

        yield look


@cache
def _load_early() -> None:
    """Use the time of the run to import what the report needs at its end."""
    import lowwater.causes
    import lowwater.report._screen
    import lowwater.report.text
    import lowwater.verdict.lines  # noqa: F401
