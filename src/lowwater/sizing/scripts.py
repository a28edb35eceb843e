"""Runs an unmodified script up to its first `fit`, in a child that answers from there."""

import os
import pickle
import subprocess
import sys
import tempfile
from dataclasses import replace
from typing import IO

from lowwater.errors import UsageError, UserError
from lowwater.model.assignment import STDIN
from lowwater.sizing.answer import Answer
from lowwater.sizing.at_first_fit import Job
from lowwater.sizing.backends import all_variables

_BOOT = """\
import sys
if not sys.flags.safe_path:
    del sys.path[0]
from lowwater.sizing.at_first_fit import main
main(sys.argv.pop())
"""


def answer_of(job: Job) -> Answer:
    """What the script's own process tells; a script that does not come to a `fit` is refused."""
    with _nameless() as result, _nameless() as order:
        order.write(pickle.dumps(replace(job, result=result.fileno())))
        order.flush()
        order.seek(0)
        status = _run(result.fileno(), order.fileno())
        result.seek(0)
        told = result.read()
    if told:
        answer: Answer | UserError = pickle.loads(told)  # noqa: S301 - from our own child
        if isinstance(answer, UserError):
            raise answer
        return answer
    raise _no_fit(job, status)


def _run(*descriptors: int) -> int:
    flags = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]  # noqa: SLF001
    command = [sys.executable, *flags, "-c", _BOOT, str(descriptors[-1])]
    variables = {**os.environ, **all_variables()}
    child = subprocess.Popen(command, env=variables, pass_fds=descriptors)  # noqa: S603
    try:
        return child.wait()
    except KeyboardInterrupt:  # the script was told as well
        child.wait()
        raise


def _no_fit(job: Job, status: int) -> UserError:
    name = "the script" if job.target == STDIN else job.target
    if status == 0:
        return UsageError(
            f"{name} ended without training a Keras model, so there is no step to measure",
            received="no call of fit or train_on_batch",
            advice="lowwater.footprint(model, x, y) in the program",
        )
    ended = f"signal {-status}" if status < 0 else f"exit code {status}"
    return UsageError(
        f"{name} failed before its first fit (see above)",
        received=ended,
        advice=f"python {name}, until it trains",
    )


def _nameless() -> IO[bytes]:
    return tempfile.TemporaryFile(buffering=0)
