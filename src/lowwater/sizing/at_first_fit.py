"""Inside the user's process: the script runs up to its first `fit`, is measured there, and ends.

Everything is the program's own there: its classes, its closures, its data. The process ends with
the answer, so what the steps do to the model is seen by nobody.
"""

import inspect
import os
import pickle
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from types import FrameType, ModuleType
from typing import Any, Final, NoReturn

from lowwater.agent.instrumentation import script
from lowwater.agent.instrumentation._imports import AfterImport
from lowwater.errors import UsageError, UserError
from lowwater.model.footprint import Story
from lowwater.model.user_code import is_own, is_users

# ruff: noqa: ANN401 - models and data are the user's

_CALLS: Final = ("fit", "train_on_batch")
_WRITING: Final = os.O_WRONLY | os.O_RDWR | os.O_CREAT
_MOST_FILES: Final = 5
_MOST_SEEN: Final = 1000


@dataclass(frozen=True, slots=True)
class Job:
    """The script, what is asked of it, and where the answer goes."""

    target: str
    arguments: tuple[str, ...]
    is_module: bool
    result: int
    batch_size: int | None = None
    need_batch: int | None = None
    limit_bytes: int | None = None


class _Witness:
    """When the script began, and which files it has opened for writing."""

    def __init__(self) -> None:
        self.began = time.monotonic()
        self.files: list[str] = []
        self.is_on = True
        sys.addaudithook(self._see)

    def _see(self, event: str, arguments: Any) -> None:
        if not self.is_on or event != "open" or len(self.files) > _MOST_SEEN:
            return
        path, _, flags = arguments
        writes = flags & _WRITING if isinstance(flags, int) else False
        is_shown = isinstance(path, str) and not path.startswith(("/dev/", "/proc/"))
        if writes and is_shown and "__pycache__" not in path and path not in self.files:
            self.files.append(path)


def main(given: str) -> None:
    """Run the script; called by the child that `sizing/scripts.py` starts."""
    with open(int(given), "rb") as file:
        job: Job = pickle.load(file)  # noqa: S301 - from our own parent
    witness = _Witness()
    sys.meta_path.insert(0, AfterImport({"keras": lambda keras: _place(keras, job, witness)}))
    try:
        if job.is_module:
            script.run_module(job.target, [*job.arguments])
        else:
            script.run_script(job.target, [*job.arguments], script.as_it_is)
    except BaseException as error:
        script.print_without_our_frames(error, __file__)
        raise


def _place(keras: ModuleType, job: Job, witness: _Witness) -> None:
    for name in _CALLS:
        setattr(keras.Model, name, _instead_of(getattr(keras.Model, name), job, witness))


def _instead_of(method: Callable[..., Any], job: Job, witness: _Witness) -> Callable[..., Any]:
    signature = inspect.signature(method)

    def measure(*args: Any, **kwargs: Any) -> Any:
        # What is wrong with the call itself is said by Keras.
        bound = signature.bind(*args, **kwargs)
        story = _story(method.__name__, witness)
        witness.is_on = False
        # From here on `fit` is Keras' own again.
        setattr(sys.modules["keras"].Model, method.__name__, method)
        _end_with(_answer(bound.arguments, job, story), job.result)

    return measure


def _answer(given: dict[str, Any], job: Job, story: Story) -> Any:
    from lowwater.sizing.ask import FootprintRequest, answered
    from lowwater.sizing.footprint import subject_of
    from lowwater.sizing.pipeline import buffers_of

    model, x, y = (given.get(name) for name in ("self", "x", "y"))
    try:
        pipeline = buffers_of(x, y)
        subject = subject_of(model, x, y, given.get("sample_weight"), given.get("class_weight"))
        own = given.get("batch_size") or subject.samples.own_batch or _batch_of_call(x, story)
        request = FootprintRequest(job.batch_size or own, job.need_batch, job.limit_bytes)
        return replace(answered(subject, request, pipeline), story=story)
    except UserError as error:
        return error
    except Exception as error:  # noqa: BLE001 - whatever it is, the user is told in one line
        return UsageError(
            "the footprint could not be measured", received=f"{type(error).__name__}: {error}"
        )


def _batch_of_call(x: Any, story: Story) -> int:
    """Without a word of the user: what Keras would take, or the batch that was given."""
    shape = getattr(x, "shape", None)
    return int(shape[0]) if story.call == "train_on_batch" and shape else 32


def _end_with(answer: Any, descriptor: int) -> NoReturn:
    """Without going further: no handler of the script runs, as it did not come to its end."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    with open(descriptor, "wb") as file:
        file.write(pickle.dumps(answer))
    os._exit(0)


def _story(call: str, witness: _Witness) -> Story:
    elapsed_s = time.monotonic() - witness.began
    # Libraries open temporary files, which are gone by now.
    kept = [name for name in witness.files if os.path.exists(name)]
    return Story(call, _where(), elapsed_s, tuple(kept[:_MOST_FILES]))


def _where() -> str:
    """The line of the user's that calls."""
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 - `inspect` is slow
    while frame is not None:
        name = frame.f_code.co_filename
        if is_users(name) and not is_own(name) and not name.startswith("<"):
            return f"{os.path.basename(name)}:{frame.f_lineno}"
        frame = frame.f_back
    return "the script"
