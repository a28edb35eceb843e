"""The agent: everything that happens inside the watched process, put together.

It imports no framework and no NumPy: a script may set their environment before it does.
"""

import atexit
import os
import sys
from collections import deque
from collections.abc import Callable, Collection
from contextlib import ExitStack
from functools import partial
from itertools import starmap
from operator import call
from types import CodeType, ModuleType
from typing import TYPE_CHECKING, Any

from lowwater.agent import autopsy
from lowwater.agent.devices import DevicesWitness
from lowwater.agent.environment import describe, versions_loaded
from lowwater.agent.escalation import Means
from lowwater.agent.inquest import Inquest
from lowwater.agent.instrumentation import (
    calls,
    explicit,
    first_use,
    keras_fit,
    libraries,
    lifecycles,
    script,
)
from lowwater.agent.instrumentation._imports import AfterImport, UserModules, before_path_finder
from lowwater.agent.instrumentation._placement import place_all
from lowwater.agent.instrumentation._tick import Passes
from lowwater.agent.instrumentation.borrowed import forget_shadowed, load_what_is_needed_later
from lowwater.agent.instrumentation.heartbeat import heart_beating
from lowwater.agent.instrumentation.loops import code_with_ticks
from lowwater.agent.instrumentation.shortages import ERRORS, Shortages
from lowwater.agent.instrumentation.uncaught import failure
from lowwater.agent.journal import Journal
from lowwater.agent.native_trace.tracer import NativeTracer, TracedProgram
from lowwater.agent.observer import Observer
from lowwater.agent.program import WatchedProgram
from lowwater.agent.readings import Readings
from lowwater.model import EXIT, LAST_STATEMENT, START
from lowwater.model.assignment import Assignment
from lowwater.model.device_settings import DeviceSettings
from lowwater.model.interruption import let_through, must_be_raised, tell_failures_to
from lowwater.probes import default_probes
from lowwater.probes.kernel_cache import emptied_kernel_cache
from lowwater.recording.records import Began, Mended
from lowwater.recording.writer import Writer

if TYPE_CHECKING:
    from lowwater.agent.guard.guard import Guard
    from lowwater.diagnose.changed_run import ChangedRun

_SESSIONS = "tensorflow.python.client.session"
_PIPELINES = "tensorflow.python.data.ops.dataset_ops"
_CACHES = "tensorflow.python.data.ops.cache_op"
_SHUFFLES = "tensorflow.python.data.ops.shuffle_op"


class Agent:
    """Places the boundaries and undoes them."""

    def __init__(  # noqa: PLR0913, PLR0917 - the parts
        self,
        program: WatchedProgram,
        journal: Journal,
        observer: Observer,
        inquest: Inquest,
        shortages: Shortages,
        experiment: "ChangedRun | None" = None,
        *,
        guard: "Guard | None" = None,
    ) -> None:
        """Nothing is placed until `install`; an experiment ends loops and rewrites files."""
        self.journal = journal
        self.observer = observer
        self.inquest = inquest
        self._program = program
        self._experiment = experiment
        self._guard = guard
        self.shortages = shortages
        self._undo = ExitStack()
        self._passes: dict[tuple[str, str | None], Passes] = {}

    def install(self) -> None:
        """Wait for the frameworks, load the user's modules with ticks, listen to the collector."""
        on_import = AfterImport(
            {
                "keras": self._place_keras,
                "tf_keras": self._place_keras,
                _SESSIONS: self._place_v1,
                _PIPELINES: self._place_pipelines,
                _CACHES: self._place_datasets,
                _SHUFFLES: self._place_datasets,
                **{
                    name: partial(self._place_counters, placements)
                    for name, placements in libraries.placements().items()
                },
            }
        )
        self._listen(sys.meta_path, on_import)
        # On its own: one of the libraries is the same module.
        self._listen(sys.meta_path, AfterImport({first_use.CONTEXT: self._place_first_use}))
        self._listen(sys.meta_path, AfterImport({ERRORS: self._place_shortages}))
        self._undo.callback(self.shortages.remove)
        modules = UserModules(self._program.root, self.add_ticks)
        before_path_finder(modules)
        self._undo.callback(_remove_from, sys.meta_path, modules)
        self._undo.enter_context(heart_beating(self.observer.heartbeat))
        # Python discards what is raised in there: only C functions may run.
        os.register_at_fork(after_in_child=partial(deque, starmap(call, self.journal.in_child), 0))

    def begin_experiment(self) -> None:
        """Change what an experiment changes, over what is placed already."""
        if self._experiment is not None:
            self._experiment.begin()

    def uninstall(self) -> None:
        """Take everything back."""
        self._undo.close()

    def undo_later(self, undo: Callable[[], None]) -> None:
        """Take this back as well, with everything."""
        self._undo.callback(undo)

    def shown(self, filename: str) -> str:
        """How reports call a file."""
        return self._program.shown(filename)

    def add_ticks(self, source: bytes, filename: str) -> CodeType:
        """Compile a file of the user's with ticks; note it when that fails."""
        shown = self._program.load(filename, source).shown
        experiment = self._experiment
        try:
            return code_with_ticks(
                source,
                filename,
                lambda line: self.passes_of("iteration", f"{shown}:{line}"),
                experiment.limit_of if experiment is not None else None,
                experiment.rewrite_of(shown) if experiment is not None else None,
            )
        except Exception as error:
            let_through(error)
            self.journal.note(f"the loops of {shown} are not watched: {error}")
            raise

    def passes_of(self, name: str, where: str | None = None) -> Passes:
        """The counter of one unit; `keras` and `tf_keras` share theirs."""
        return self._passes.setdefault((name, where), Passes(self.observer, name, where))

    def _listen(self, finders: list[Any], finder: AfterImport) -> None:
        finders.insert(0, finder)
        self._undo.callback(_remove_from, finders, finder)

    def _place_keras(self, keras: ModuleType) -> None:
        Inquest.prepare()
        self.journal.learn(versions_loaded())
        passes_of, counted = self.passes_of, self._program.calls
        self._place(keras, lambda module: keras_fit.placements(module, passes_of, counted))
        self._place(
            keras,
            lambda module: lifecycles.model_placements(
                module, self._program.models, passes_of, counted
            ),
        )
        self._place(keras, lambda module: calls.optimizer_placements(module, counted))
        if self._guard is not None:
            self._place(keras, self._guard.placements)

    def _place_first_use(self, context: ModuleType) -> None:
        self._place(context, lambda module: first_use.placements(module, self.shown))

    def _place_shortages(self, core: ModuleType) -> None:
        self._place(core, self.shortages.placements)

    def _place_pipelines(self, dataset_ops: ModuleType) -> None:
        self._place(
            dataset_ops, lambda module: calls.pipeline_placements(module, self._program.calls)
        )

    def _place_v1(self, session: ModuleType) -> None:
        Inquest.prepare()
        sessions, passes_of = self._program.sessions, self.passes_of
        self._place(
            session, lambda module: lifecycles.session_placements(module, sessions, passes_of)
        )

    def _place_datasets(self, module: ModuleType) -> None:
        self._place(
            module, lambda found: lifecycles.dataset_placements(found, self._program.datasets)
        )

    def _place_counters(self, placements: libraries.Placements, module: ModuleType) -> None:
        self._place(module, lambda found: placements(found, self._program.calls))

    def _place(self, module: ModuleType, placements: Any) -> None:  # noqa: ANN401
        place_all(module, placements, self._undo, self.journal.note)


def _remove_from(items: list[Any], item: object) -> None:
    if item in items:
        items.remove(item)


def start(assignment: Assignment) -> Agent | None:
    """Go on with the recording, and place the boundaries; None where that fails."""
    writer = Writer(assignment.recording, assignment.descriptor)
    journal = Journal(writer, began_s=assignment.began_s)
    tell_failures_to(journal.note)
    agent = None
    try:
        journal.record(Began(describe(assignment.command)))
        agent = agent_for(assignment, journal)
        _begin(agent, assignment)
    except Exception as error:  # noqa: BLE001 - the program comes first
        let_through(error)
        if agent is not None:
            agent.uninstall()
        journal.note(f"the program ran unwatched: {type(error).__name__}: {error}")
        journal.close()
        return None
    return agent


def agent_for(assignment: Assignment, journal: Journal) -> Agent:
    """All parts of an agent, put together; nothing is placed yet."""
    program = WatchedProgram(assignment.folder, assignment.root)
    told_once = DevicesWitness(journal.record)
    readings = Readings([*default_probes(), program.lifecycle_probe, told_once], journal)
    inquest = Inquest(program.files, program.calls, program.lives, journal.note)
    traced = TracedProgram(program.shown_files, readings, journal.note, journal.record)
    recording = os.path.abspath(assignment.recording)
    shortages = Shortages(journal, recording, program.shown)
    means = Means(inquest, NativeTracer(recording, traced, journal.in_child))
    if assignment.experiment is None:
        guard = guard_for(assignment, program, journal)
        passes = guard.loop_passes if guard is not None else None
        observer = Observer(journal, readings, means, after_sample=passes)
        return Agent(program, journal, observer, inquest, shortages, guard=guard)
    from lowwater.diagnose.changed_run import ChangedRun

    experiment = ChangedRun(assignment.experiment, journal, program.shown)
    observer = Observer(journal, readings, experiment.means(means), experiment.pass_boundary)
    return Agent(program, journal, observer, inquest, shortages, experiment)


def guard_for(assignment: Assignment, program: WatchedProgram, journal: Journal) -> "Guard | None":
    """The guard, where the user has asked for it."""
    if not assignment.guard:
        return None
    from lowwater.agent.guard.guard import Guard

    raises = assignment.guard == "raise"
    return Guard(journal, os.getcwd(), program.models.living, raises=raises)


def _begin(agent: Agent, assignment: Assignment) -> None:
    load_what_is_needed_later()
    agent.install()
    explicit.listen(agent.passes_of, agent.journal.note)
    if assignment.devices is not None:
        set_devices(agent, assignment.devices)
    if assignment.is_mended:
        mend_libraries(agent.journal)
    agent.begin_experiment()
    agent.observer.moment(START)


def set_devices(agent: Agent, wanted: dict[str, Any]) -> None:
    """Before the script can use a device; what it sets itself stands."""
    from lowwater.agent import device_settings

    settings = DeviceSettings.from_plain(wanted)
    applied = device_settings.start(settings, agent.journal.note, agent.shown)
    agent.undo_later(applied.stop)
    for warning in settings.warnings:
        agent.journal.note(warning)


def mend_libraries(journal: Journal) -> None:
    """Repair the libraries as they come in, and record at once what became of it."""
    from lowwater.giveback.mend import mend

    mended = mend()

    def record() -> None:
        if journal.is_on:
            journal.record(Mended([*mended.mendings]))

    mended.on_change(record)
    record()


def main(given: str, loaded_before: Collection[str] = ()) -> None:
    """Run the program under watch; called by the supervisor's child process.

    What cannot be watched runs all the same.
    """
    assignment = Assignment.received(given)
    agent = start(assignment) if assignment.descriptor is not None else None
    add_ticks = agent.add_ticks if agent is not None else script.as_it_is
    if agent is not None:
        # Not at the end of the script: threads may go on training when that is over.
        atexit.register(_finish, agent)
    ready = partial(forget_shadowed, loaded_before)
    try:
        try:
            if assignment.is_module:
                script.run_module(assignment.target, assignment.arguments, ready)
            else:
                script.run_script(assignment.target, assignment.arguments, add_ticks, ready)
        finally:
            _after_last_statement(agent)
    except BaseException as error:
        script.print_without_our_frames(error, __file__)
        raise


def _after_last_statement(agent: Agent | None) -> None:
    """See what the script leaves behind, and why it ended."""
    if agent is None or not agent.observer.is_on:
        return
    try:
        error = sys.exception()
        failed = failure(error)
        if failed is not None and error is not None:
            agent.journal.record(failed)
            autopsy.look(error, agent.journal, agent.shortages, agent.shown)
        agent.observer.moment(LAST_STATEMENT)
    except BaseException:
        if must_be_raised():
            raise


def _finish(agent: Agent) -> None:
    """Write the last words; a signal only cuts them short: Python discards what is raised."""
    try:
        agent.journal.learn(versions_loaded())
        # memray's own memory is not the program's.
        agent.observer.escalation.finish()
        # A run that never rose is left alone to its very end.
        has_risen = agent.observer.escalation.collections > 0
        agent.observer.moment(EXIT, emptied_kernel_cache if has_risen else None)
        agent.observer.finish(agent.inquest.last_words())
    except BaseException:  # noqa: BLE001 - the program is over: nobody is left to be told
        agent.observer.abandon()
