"""A backend for joblib: every task of `cross_val_score` or `GridSearchCV` in a fresh process.

with lowwater.joblib_backend(workers=2, memory="4 GiB"):
    cross_val_score(model, x, y, cv=5)
"""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from typing import Any

from lowwater.errors import UsageError
from lowwater.isolation.cancel import Cancel
from lowwater.isolation.engines import Engine, engine_of
from lowwater.isolation.limits import Duration, Limits, Size
from lowwater.isolation.outcome import TrialOutcome
from lowwater.isolation.trial import Trial, attempt

# ruff: noqa: ANN401 - joblib has no types


class _Tasks:
    """The tasks of one call of `joblib.Parallel`: some run, the others wait."""

    def __init__(self, limits: Limits, engine: Engine, retries: int, workers: int) -> None:
        self._of = limits, engine, retries
        self._cancel = Cancel()
        self._pool = ThreadPoolExecutor(workers, "lowwater-task")

    def add(self, task: Callable[[], Any]) -> Future[TrialOutcome]:
        limits, engine, retries = self._of
        trial = Trial(task, (), {}, limits)
        return self._pool.submit(attempt, trial, engine, retries, self._cancel)

    def end(self) -> None:
        """Kill what runs, and forget what waits."""
        self._cancel.set()
        self._pool.shutdown(cancel_futures=True)
        self._cancel.close()


def joblib_backend(  # noqa: PLR0913 - each is a limit or a choice of the user's
    *,
    workers: int = 1,
    timeout: Duration = None,
    memory: Size = None,
    device_memory: Size = None,
    retries: int = 0,
    engine: str | Engine = "local",
    **options: Any,
) -> AbstractContextManager[Any]:
    """Run every task of joblib, and so of scikit-learn, in a fresh process.

        with lowwater.joblib_backend(workers=2, memory="4 GiB"):
            scores = cross_val_score(model, x, y, cv=5)

    `workers` is how many tasks run at once; `n_jobs` is ignored. The limits are those of
    `lowwater.isolated`, and apply to each task: one fit of one fold.
    """
    if workers < 1:
        raise UsageError("`workers` must be 1 or more", received=repr(workers))
    try:
        import joblib
    except ImportError:
        advice = "pip install joblib"
        raise UsageError(
            "joblib_backend() requires joblib, which is not installed", advice=advice
        ) from None
    limits = Limits.of(timeout, memory, device_memory)
    chosen = engine_of(engine, options)
    backend = _backend(lambda: _Tasks(limits, chosen, retries, workers), workers)
    context: AbstractContextManager[Any] = joblib.parallel_config(backend=backend, n_jobs=workers)
    return context


def _backend(make: Callable[[], _Tasks], workers: int) -> Any:
    from joblib.parallel import ParallelBackendBase

    class Isolated(ParallelBackendBase):  # type: ignore[misc]
        """Asks for one process for each task."""

        supports_retrieve_callback = True
        tasks: _Tasks | None = None

        def effective_n_jobs(self, n_jobs: int | None) -> int:  # noqa: ARG002
            # For one, joblib would make the calls itself, in this very process.
            return max(2, workers)

        def configure(self, n_jobs: int = 1, parallel: Any = None, **_: Any) -> int:
            self.parallel = parallel
            self.tasks = make()
            return self.effective_n_jobs(n_jobs)

        def submit(self, func: Callable[[], Any], callback: Any = None) -> Future[TrialOutcome]:
            assert self.tasks is not None
            future = self.tasks.add(func)
            if callback is not None:
                future.add_done_callback(callback)
            return future

        def retrieve_result_callback(self, out: Future[TrialOutcome]) -> Any:
            return out.result().get()

        def abort_everything(self, ensure_ready: bool = True) -> None:  # noqa: FBT001, FBT002
            self.terminate()
            if ensure_ready:
                self.tasks = make()

        def terminate(self) -> None:
            tasks, self.tasks = self.tasks, None
            if tasks is not None:
                tasks.end()

    return Isolated()
