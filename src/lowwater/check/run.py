"""`lowwater check` from the paths to the report: looks, asks on all cores, keeps the order."""

import gc
import os
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from lowwater.check.cache import Cache, Kept, Lookup, content_of
from lowwater.check.config import CheckOptions
from lowwater.check.modules import ProjectModules
from lowwater.check.one_file import LARGEST_BYTES, CheckedFile, check, decoded
from lowwater.check.project import File, Project
from lowwater.check.suppressions import MARK, apply
from lowwater.check.walk import files
from lowwater.check.words import PREVIEWS, WordSearch
from lowwater.model.source import SourceFinding, SourceReport, Unchecked

# Less source than this is checked before another process has started.
_WORTH_A_PROCESS_BYTES: Final = 200_000
# How much source one process takes at a time: large enough to forget that it asks for more.
_CHUNK_BYTES: Final = 250_000


@dataclass(frozen=True, slots=True)
class ParseJob:
    """One file to parse, and the causes to ask."""

    path: str
    size: int
    codes: frozenset[str]


def run(
    paths: Sequence[str], options: CheckOptions | None = None, *, cache_folder: str | None = None
) -> SourceReport:
    """Check all files below these paths."""
    options = options or CheckOptions()
    found = _Run(paths, options, Cache(cache_folder, with_preview=options.preview)).checked()
    shown: list[SourceFinding] = []
    for path, one in found.items():
        wanted = [each for each in one.findings if options.wants(each.code, path)]
        shown += apply(wanted, one.suppressions, path, is_asked=options.asks)
    unchecked = (Unchecked(path, one.why_not) for path, one in found.items() if one.why_not)
    return SourceReport(tuple(shown), tuple(unchecked), len(found))


class _Run:
    """One look at many files: each is read once, and each module looked for once."""

    def __init__(self, paths: Sequence[str], options: CheckOptions, cache: Cache) -> None:
        self._paths, self._options, self._cache = paths, options, cache
        self._modules = ProjectModules(_folders(paths))
        self._contents: dict[str, str] = {}

    def checked(self) -> dict[str, CheckedFile]:
        found: dict[str, CheckedFile | None] = {}
        jobs: list[ParseJob] = []
        for path in files(self._paths, self._options.exclude):
            found[path] = self._known(path, jobs)
        for path, kept in _done(jobs, self._modules):
            self._cache.put(os.path.abspath(path), kept)
            found[path] = kept.checked
        self._cache.write()
        return {path: one or CheckedFile() for path, one in found.items()}

    def _known(self, path: str, jobs: list[ParseJob]) -> CheckedFile | None:
        """What is known of a file without parsing it; else it becomes a job."""
        try:
            data = read(path)
        except OSError as error:
            return CheckedFile(why_not=error.strerror or str(error))
        if len(data) > LARGEST_BYTES:
            return CheckedFile(why_not="larger than 10 MiB")
        content = content_of(data)
        kept = self._cache.get(os.path.abspath(path), content, self._modules.find, self._content)
        if kept is not None:
            return _named(kept, path)
        codes = self._first_look.codes(path, data)
        if not self._options.preview:
            codes -= PREVIEWS
        if codes or MARK.encode() in data:
            jobs.append(ParseJob(path, len(data), codes))
            return None
        return CheckedFile()

    @cached_property
    def _first_look(self) -> WordSearch:
        return WordSearch(self._modules.find, _read_if_possible, self._cache.own_words)

    def _content(self, path: str) -> str:
        if path not in self._contents:
            self._contents[path] = _content_at(path)
        return self._contents[path]


def _named(checked: CheckedFile, path: str) -> CheckedFile:
    """The same with the path as it is given now: `./a.py` and `a.py` are one file."""
    if all(one.path == path for one in checked.findings):
        return checked
    from dataclasses import replace

    return replace(checked, findings=tuple(replace(one, path=path) for one in checked.findings))


def _folders(paths: Iterable[str]) -> Iterator[str]:
    for path in paths:
        yield path if os.path.isdir(path) else os.path.dirname(path) or "."


def read(path: str) -> bytes:
    """The bytes of a file, and one more than is allowed where there are too many."""
    if not os.path.isfile(path):
        # A pipe or a device would be waited for.
        raise OSError(0, "not a regular file" if os.path.exists(path) else "no such file")
    with open(path, "rb") as stream:
        return stream.read(LARGEST_BYTES + 1)


def _read_if_possible(path: str) -> bytes | None:
    try:
        return read(path)
    except OSError:
        return None


def _content_at(path: str) -> str:
    data = _read_if_possible(path)
    return "" if data is None else content_of(data)


def _done(jobs: list[ParseJob], modules: ProjectModules) -> Iterator[tuple[str, Kept]]:
    """All jobs, on as many cores as are worth it."""
    chunks = _chunks(jobs)
    cores = min(_cores(), len(chunks))
    if cores <= 1:
        yield from work(jobs, modules)
        return
    finished = 0
    try:
        with _executor(cores) as executor:
            for done in executor.map(work, chunks, [modules] * len(chunks)):
                yield from done
                finished += 1
    except BrokenExecutor:
        # A process was killed, for its memory most likely: one alone needs less.
        for chunk in chunks[finished:]:
            yield from work(chunk, modules)


def _chunks(jobs: list[ParseJob]) -> list[list[ParseJob]]:
    """Pieces of about the same size; one alone where there is little to do."""
    if sum(job.size for job in jobs) < _WORTH_A_PROCESS_BYTES:
        return [jobs]
    chunks: list[list[ParseJob]] = [[]]
    size = 0
    for job in jobs:
        if size > _CHUNK_BYTES:
            chunks.append([])
            size = 0
        chunks[-1].append(job)
        size += job.size
    return chunks


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _executor(cores: int) -> Executor:
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    # A fork has all modules loaded; where there is none, the default will do.
    can_fork = "fork" in multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("fork" if can_fork else None)
    return ProcessPoolExecutor(cores, mp_context=context)


def work(jobs: Sequence[ParseJob], modules: ProjectModules) -> list[tuple[str, Kept]]:
    """Check some files; what one of them needed of the project, the next may need as well."""
    parsed: dict[str, File | None] = {}
    # Millions of objects are made, and none of them is garbage before its file is done.
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        return [_job(job, modules, parsed) for job in jobs]
    finally:
        for file in filter(None, parsed.values()):
            file.top.forget()
        if was_enabled:
            gc.enable()


def _job(
    job: ParseJob, modules: ProjectModules, parsed: dict[str, File | None]
) -> tuple[str, Kept]:
    project = Project(modules.find, read_text, parsed)
    data = _read_if_possible(job.path) or b""
    checked = check(job.path, data, project, job.codes)
    asked = tuple(
        # The next run may be started in another folder.
        Lookup(dotted, os.path.abspath(importer), level, path, _content_at(path) if path else "")
        for (dotted, importer, level), path in project.asked.items()
    )
    return job.path, Kept(content_of(data), checked, asked)


def read_text(path: str) -> str:
    """A module of the project, as text."""
    return decoded(read(path)[:LARGEST_BYTES])
