"""The agent: everything that happens inside the watched process, put together.

It imports no framework and no NumPy, for a script may set their environment before it does.
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

from lowwater.agent.environment import describe, versions_loaded
from lowwater.agent.inquest import Inquest, LoadedFile
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
from lowwater.agent.instrumentation.loops import LimitOf, code_with_ticks, shown_path
from lowwater.agent.instrumentation.uncaught import failure
from lowwater.agent.native_trace.tracer import NativeTracer, TracedProgram
from lowwater.agent.observer import Observer
from lowwater.model import EXIT, LAST_STATEMENT, START
from lowwater.model.assignment import Assignment
from lowwater.model.device_settings import DeviceSettings
from lowwater.model.interruption import let_through, must_be_raised, tell_failures_to
from lowwater.model.policy import POLICY
from lowwater.model.tallies import DATASETS, MODEL, MODELS, SESSIONS
from lowwater.probes import default_probes
from lowwater.probes.kernel_cache import emptied_kernel_cache
from lowwater.recording.records import Began, Mended
from lowwater.recording.writer import Writer

if TYPE_CHECKING:
    from lowwater.diagnose.kept_short import KeptShort

_SESSIONS = "tensorflow.python.client.session"
_PIPELINES = "tensorflow.python.data.ops.dataset_ops"
_CACHES = "tensorflow.python.data.ops.cache_op"
_SHUFFLES = "tensorflow.python.data.ops.shuffle_op"


class Agent:
    """Places the boundaries and undoes them; owns the observer."""

    def __init__(self, observer: Observer, folder: str, root: str) -> None:
        """Nothing is placed until `install`; `root` holds all that is the user's own."""
        self.observer = observer
        self._folder = folder
        self._root = root
        self._undo = ExitStack()
        # What a forked child does first: functions written in C, and what they are given. The
        # recording is its parent's.
        self.in_child: list[tuple[Any, ...]] = [(setattr, observer, "is_on", False)]
        self._passes: dict[tuple[str, str | None], Passes] = {}
        self._files: dict[str, LoadedFile] = {}
        # For an experiment: what ends a loop early, by its lines, and what else it changes.
        self.limit_of: LimitOf | None = None
        self.kept_short: KeptShort | None = None
        self._calls = calls.Calls(self._files.__contains__)
        self._models = lifecycles.Lives(self._calls, self.passes_of("model"), counted_as=MODEL)
        self._sessions = lifecycles.Lives(self._calls, self.passes_of("session"))
        self._datasets = lifecycles.Lives(self._calls, about=lifecycles.about_dataset)
        lives = {MODELS: self._models, SESSIONS: self._sessions, DATASETS: self._datasets}
        self.inquest = Inquest(self._files, self._calls, lives, observer.note)
        observer.escalation.inquire = self.inquest

    @property
    def lifecycle_probe(self) -> lifecycles.LifecycleProbe:
        """The probe that tells how many models and sessions live."""
        return lifecycles.LifecycleProbe(self._models, self._sessions)

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
        modules = UserModules(self._root, self.add_ticks)
        before_path_finder(modules)
        self._undo.callback(_remove_from, sys.meta_path, modules)
        self._undo.enter_context(heart_beating(self.observer.heartbeat))
        # Python discards what is raised in there: only C functions may run.
        os.register_at_fork(after_in_child=partial(deque, starmap(call, self.in_child), 0))

    def uninstall(self) -> None:
        """Take everything back."""
        self._undo.close()

    def undo_later(self, undo: Callable[[], None]) -> None:
        """Take this back as well, with everything."""
        self._undo.callback(undo)

    def add_ticks(self, source: bytes, filename: str) -> CodeType:
        """Compile a file of the user's with ticks; note it when that fails."""
        shown = shown_path(filename, self._folder, self._root)
        self._files[filename] = LoadedFile(source, shown)
        kept_short = self.kept_short
        try:
            return code_with_ticks(
                source,
                filename,
                lambda line: self.passes_of("iteration", f"{shown}:{line}"),
                self.limit_of,
                partial(kept_short.rewrite, shown) if kept_short is not None else None,
            )
        except Exception as error:
            let_through(error)
            self.observer.note(f"the loops of {shown} are not watched: {error}")
            raise

    def shown(self, filename: str) -> str:
        """How reports call a file."""
        return shown_path(filename, self._folder, self._root)

    def shown_files(self) -> dict[str, str]:
        """The files of the program that were loaded, and how reports call them."""
        return {filename: file.shown for filename, file in self._files.items()}

    def passes_of(self, name: str, where: str | None = None) -> Passes:
        """The counter of one unit; `keras` and `tf_keras` share theirs."""
        return self._passes.setdefault((name, where), Passes(self.observer, name, where))

    def _listen(self, finders: list[Any], finder: AfterImport) -> None:
        finders.insert(0, finder)
        self._undo.callback(_remove_from, finders, finder)

    def _place_keras(self, keras: ModuleType) -> None:
        self.inquest.prepare()
        self.observer.learn(versions_loaded())
        passes_of, counted = self.passes_of, self._calls
        self._place(keras, lambda module: keras_fit.placements(module, passes_of, counted))
        self._place(
            keras,
            lambda module: lifecycles.model_placements(module, self._models, passes_of, counted),
        )
        self._place(keras, lambda module: calls.optimizer_placements(module, counted))

    def _place_first_use(self, context: ModuleType) -> None:
        self._place(context, lambda module: first_use.placements(module, self.shown))

    def _place_pipelines(self, dataset_ops: ModuleType) -> None:
        self._place(dataset_ops, lambda module: calls.pipeline_placements(module, self._calls))

    def _place_v1(self, session: ModuleType) -> None:
        self.inquest.prepare()
        self._place(session, lambda module: lifecycles.session_placements(module, self._sessions))

    def _place_datasets(self, module: ModuleType) -> None:
        self._place(module, lambda found: lifecycles.dataset_placements(found, self._datasets))

    def _place_counters(self, placements: libraries.Placements, module: ModuleType) -> None:
        self._place(module, lambda found: placements(found, self._calls))

    def _place(self, module: ModuleType, placements: Any) -> None:  # noqa: ANN401
        place_all(module, placements, self._undo, self.observer.note)


def _remove_from(items: list[Any], item: object) -> None:
    if item in items:
        items.remove(item)


def start(assignment: Assignment) -> Agent:
    """Go on with the recording, and place the boundaries."""
    writer = Writer(assignment.recording, assignment.descriptor)
    observer = Observer([*default_probes()], writer)
    tell_failures_to(observer.note)
    agent = Agent(observer, assignment.folder, assignment.root)
    try:
        _prepare(agent, assignment)
    except Exception as error:  # noqa: BLE001 - the program comes first
        let_through(error)
        agent.uninstall()
        observer.note(f"the program ran unwatched: {type(error).__name__}: {error}")
        observer.abandon()
    return agent


def _prepare(agent: Agent, assignment: Assignment) -> None:
    observer = agent.observer
    observer.record(Began(describe(assignment.command)))
    program = TracedProgram(agent.shown_files, observer.in_use_now, observer.note, observer.record)
    path = os.path.abspath(assignment.recording)
    observer.escalation.native_tracer = NativeTracer(path, program, agent.in_child)
    observer.probes.append(agent.lifecycle_probe)
    load_what_is_needed_later()
    agent.install()
    explicit.listen(agent.passes_of, observer.note)
    if assignment.devices is not None:
        set_devices(agent, assignment.devices)
    if assignment.is_mended:
        mend_libraries(observer)
    if assignment.experiment is not None:
        experiment_with(agent, assignment.experiment)
    observer.moment(START)


def experiment_with(agent: Agent, wanted: dict[str, Any]) -> None:
    """Shorten the program and change what is wanted in it."""
    from lowwater.diagnose.change import Change
    from lowwater.diagnose.cuts import Cuts
    from lowwater.diagnose.factors import find_factor
    from lowwater.diagnose.look import Look
    from lowwater.diagnose.patient_brake import PatientBrake

    observer = agent.observer
    change = Change(observer.note, observer.tell_facts)
    # What is placed last runs first: a factor is given what was cut before.
    for key, detail in wanted["changes"]:
        find_factor(key).apply(change, detail)
    agent.kept_short = change.kept_short
    if change.at_boundaries:
        observer.before_sample = change.pass_boundary
    if wanted["changes"]:
        # Who holds it is asked of the program as it is; here only how much there is.
        observer.escalation.inquire = None
    else:
        observer.escalation.brake = PatientBrake(POLICY)
        # What was seen of the program as it is tells which changes apply.
        Look(observer.tell_facts, agent.shown).apply(change)
    known: set[str] = set()

    def told(key: str, value: str) -> None:
        if key not in known:
            known.add(key)
            observer.tell_facts({key: value})

    agent.limit_of = Cuts(**wanted["cuts"]).apply(change, told).of_loop


def set_devices(agent: Agent, wanted: dict[str, Any]) -> None:
    """Before the script can use a device; what it sets itself stands."""
    from lowwater.agent import device_settings

    settings = DeviceSettings.from_plain(wanted)
    applied = device_settings.start(settings, agent.observer.note, agent.shown)
    agent.undo_later(applied.stop)
    for warning in settings.warnings:
        agent.observer.note(warning)


def mend_libraries(observer: Observer) -> None:
    """Repair the libraries as they come in, and record at once what became of it."""
    from lowwater.giveback.mend import mend

    mended = mend()

    def record() -> None:
        if observer.is_on:
            observer.record(Mended([*mended.mendings]))

    mended.on_change(record)
    record()


def main(given: str, loaded_before: Collection[str] = ()) -> None:
    """Run the program under watch; called by the supervisor's child process.

    What cannot be watched runs all the same.
    """
    assignment = Assignment.received(given)
    agent = start(assignment) if assignment.descriptor is not None else None
    add_ticks = agent.add_ticks if agent is not None else _as_it_is
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
        script.hide_our_frames(error, depth=_our_depth(error))
        raise


def _after_last_statement(agent: Agent | None) -> None:
    """See what the script leaves behind, and why it ended."""
    if agent is None or not agent.observer.is_on:
        return
    try:
        failed = failure(sys.exception())
        if failed is not None:
            agent.observer.record(failed)
        agent.observer.moment(LAST_STATEMENT)
    except BaseException:
        if must_be_raised():
            raise


def _as_it_is(source: bytes, filename: str) -> CodeType:
    code: CodeType = compile(source, filename, "exec", dont_inherit=True)
    return code


def _finish(agent: Agent) -> None:
    """Write the last words; a signal only cuts them short, for Python discards what is raised."""
    try:
        agent.observer.learn(versions_loaded())
        # memray's own memory is not the program's.
        agent.observer.escalation.finish()
        # A run that never rose is left alone to its very end.
        has_risen = agent.observer.escalation.collections > 0
        agent.observer.moment(EXIT, emptied_kernel_cache if has_risen else None)
        agent.observer.finish(agent.inquest.last_words())
    except BaseException:  # noqa: BLE001 - the program is over: nobody is left to be told
        agent.observer.abandon()


def _our_depth(error: BaseException) -> int:
    """How many of our own frames stand above the program's first one."""
    ours = (__file__, script.__file__)
    depth, entry = 0, error.__traceback__
    while entry is not None and entry.tb_frame.f_code.co_filename in ours:
        depth, entry = depth + 1, entry.tb_next
    return depth
