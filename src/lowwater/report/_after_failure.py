"""What to do about a program that did not come to its end, before anything else."""

import signal
from collections.abc import Iterator
from typing import Final

from lowwater.model import Diagnosis, Kind
from lowwater.report._step import Step
from lowwater.report._words import signal_name, unit_of

_TOO_LARGE: Final = (
    "Make the batch, the model or the shuffle buffers smaller, or give the program more memory."
)


def after_a_failure(diagnosis: Diagnosis) -> Iterator[Step]:
    """The first step after a run that failed; none where it did not."""
    ending = diagnosis.ending
    if ending is None or not ending.is_broken_off:
        return
    if ending.out_of_memory:
        yield _out_of_memory(diagnosis)
    elif ending.error is not None:
        yield Step("Fix the error that ended the script first (see above).")
    elif ending.signal == signal.SIGKILL:
        yield Step(
            "Find out who killed the program first: the kernel does when memory runs out "
            "(`dmesg` tells), and so does a batch system."
        )
    elif ending.signal is not None:
        yield Step(f"Find out why the program crashed with {signal_name(ending.signal)} first.")
    elif diagnosis.verdict.kind is Kind.INCONCLUSIVE:
        yield Step(f"Find out first whether exit code {ending.exit_code} came too early.")


def _out_of_memory(diagnosis: Diagnosis) -> Step:
    """A leak is mended; what is simply too large is made smaller."""
    verdict = diagnosis.verdict
    if verdict.is_leak:
        return Step("It ran out of memory, and it leaks: fix the leak first.")
    # Where nothing leaks the program is simply too large: say so, or the verdict sounds wrong.
    if verdict.is_leak is False:
        return Step(
            f"It ran out of memory without a leak: it needs more than there is. {_TOO_LARGE}"
        )
    return Step(
        f"It ran out of memory before it could be told whether each {unit_of(verdict).name} "
        f"keeps some. {_TOO_LARGE}"
    )
