"""Puts the parts together: watch a program, judge its recording. Decides nothing itself."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from subprocess import Popen
from typing import TYPE_CHECKING, Final, TextIO

from lowwater.agent.instrumentation.shortages import SUFFIX as MAPS
from lowwater.agent.instrumentation.shortages import remove_folder
from lowwater.agent.native_trace.sites import add_sites
from lowwater.errors import LowwaterError, UnreadableInput
from lowwater.model import Diagnosis, Evidence, Finding, Kind, Timeline, Topic
from lowwater.model.experiment import Conclusion, Experiments
from lowwater.probes.headroom import headroom
from lowwater.recording.fold import ending
from lowwater.recording.reader import load
from lowwater.supervisor.supervisor import RunOutcome, supervise

if TYPE_CHECKING:
    from lowwater.model.assignment import Assignment
    from lowwater.supervisor.progress import Line
    from lowwater.supervisor.signals import Witness

# Several times what our own imports take.
_PLENTY_BYTES: Final = 512 << 20


def watch(
    child: Popen[bytes],
    recording: str,
    line: "Line | None" = None,
    witness: "Witness | None" = None,
    *,
    loads_early: bool = True,
) -> tuple[Diagnosis, RunOutcome]:
    """Stay with a program that was launched, and judge what was seen, however it ended.

    Where there is a `line`, it is kept up to date. A `witness` knows what our group was sent.
    """
    outcome = supervise(
        child, recording, _looking(recording, line, _load_early if loads_early else _wait), witness
    )
    remove_folder(recording + MAPS)
    problem = add_sites(recording, outcome.ended.elapsed_us)
    if problem is not None:
        outcome = replace(outcome, notes=(*outcome.notes, problem))
    try:
        timeline = load(recording)
    except UnreadableInput as error:  # the disk was full from the start
        timeline = Timeline()
        outcome = replace(outcome, notes=(str(error), *outcome.notes))
    timeline = replace(timeline, ending=timeline.ending or ending(outcome.ended))
    return diagnose(timeline, outcome.notes), outcome


@contextmanager
def live_line(stream: TextIO | None) -> "Iterator[Line | None]":
    """A line at the bottom of the terminal, where there is one."""
    if stream is None or not stream.isatty():
        yield None
        return
    from lowwater.report.live import LiveLine

    with LiveLine(stream) as line:
        yield line


def diagnose(timeline: Timeline, notes: tuple[str, ...] = ()) -> Diagnosis:
    """Judge a recording."""
    from lowwater.causes.catalogue import find_causes, why_nothing_is_found
    from lowwater.verdict import book, judge  # NumPy: loaded while the program runs
    from lowwater.verdict.autopsy import about_caught, autopsy_of
    from lowwater.verdict.devices import with_devices
    from lowwater.verdict.lines import with_lines

    timeline = with_devices(with_lines(timeline))
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
        timeline.kernel_cache_bytes,
        timeline.devices,
    )
    findings = find_causes(evidence)
    if verdict.kind is Kind.LEAK and not findings:
        notes = (*notes, why_nothing_is_found(evidence))
    return Diagnosis(
        verdict=verdict,
        units=by_unit,
        findings=findings,
        ledger=ledger,
        notes=(*map(str, timeline.notes), *about_caught(timeline), *notes),
        of_experiment=tuple(one for one in timeline.notes if one.topic is not Topic.PROGRAM),
        environment=timeline.environment,
        facts=timeline.facts,
        overhead=timeline.overhead,
        ending=timeline.ending,
        autopsy=autopsy_of(timeline, by_unit, findings),
        mended=timeline.mended,
        guarded=timeline.guarded,
        experiments=timeline.experiments,
        conclusion=_concluded(timeline.experiments, findings),
    )


def with_note(diagnosis: Diagnosis, note: str | None) -> Diagnosis:
    """The same with one more note, where there is one."""
    return diagnosis if note is None else replace(diagnosis, notes=(*diagnosis.notes, note))


def with_source(diagnosis: Diagnosis, assignment: "Assignment", began_s: float) -> Diagnosis:
    """The same, whose findings say whether `lowwater check` sees them; a flat run costs nothing."""
    if diagnosis.verdict.kind is Kind.FLAT or not any(one.where for one in diagnosis.findings):
        return diagnosis
    from lowwater.supervisor.in_source import ProgramSource

    source = ProgramSource(assignment, began_s)
    findings = tuple(replace(one, in_source=source.look(one)) for one in diagnosis.findings)
    return replace(diagnosis, findings=findings)


def _concluded(experiments: Experiments | None, findings: tuple[Finding, ...]) -> Conclusion | None:
    from lowwater.diagnose.conclude import conclude

    if experiments is None:
        return None
    return conclude(experiments.rows[1:], findings) if experiments.base.grows else Conclusion()


def _looking(
    recording: str, line: "Line | None", meanwhile: Callable[[], None]
) -> Callable[[], None]:
    """What to do twice a second."""
    if line is None:
        return meanwhile
    from lowwater.supervisor.progress import Progress

    progress: Progress | None = Progress(recording, line)

    def look() -> None:
        nonlocal progress
        meanwhile()
        try:
            if progress is not None:
                progress.look()
        except (LowwaterError, OSError):  # a recording that the program has damaged, a full disk
            progress = None

    return look


def _wait() -> None:
    """A program that comes near its limit needs the memory that our imports would take."""


def _load_early() -> None:
    """Use the time of the run to import what the report needs at its end.

    Where memory is tight, it is the program's: its end leaves enough.
    """
    room = None if "lowwater.verdict.lines" in sys.modules else headroom()
    if room is not None and room < _PLENTY_BYTES:
        return
    import lowwater.causes.catalogue
    import lowwater.report._screen
    import lowwater.report.text
    import lowwater.verdict.lines  # noqa: F401
