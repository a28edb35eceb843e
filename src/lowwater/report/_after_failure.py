"""What to do about a program that did not come to its end, before anything else."""

import signal
from collections.abc import Iterator
from typing import Final

from lowwater.model import Diagnosis, Kind
from lowwater.model.autopsy import Manner
from lowwater.report._autopsy import steps_after
from lowwater.report._step import NextStep
from lowwater.report._words import signal_name, unit_of

_TOO_LARGE: Final = "Use a smaller batch, model or shuffle buffer, or give the program more memory."


def after_a_failure(diagnosis: Diagnosis) -> Iterator[NextStep]:
    """The first step after a run that failed; none where it did not."""
    ending = diagnosis.ending
    if ending is None or not ending.is_broken_off:
        return
    if diagnosis.guarded is not None and diagnosis.guarded.is_raised and not ending.out_of_memory:
        return
    if ending.out_of_memory:
        yield from _out_of_memory(diagnosis)
    elif ending.error is not None:
        yield NextStep("First fix the error that ended the script (see above).")
    elif ending.signal == signal.SIGKILL:
        yield NextStep(
            "First find out what killed the program: for example a batch system, or the kernel "
            "when memory ran out (see `dmesg`)."
        )
    elif ending.signal is not None:
        yield NextStep(f"First find out why the program crashed with {signal_name(ending.signal)}.")
    elif diagnosis.verdict.kind is Kind.INCONCLUSIVE:
        yield NextStep(
            f"First check whether exit code {ending.exit_code} means that it ended too early."
        )


def is_all_told(diagnosis: Diagnosis) -> bool:
    """Whether what follows from the verdict on a unit would only contradict the autopsy."""
    autopsy = diagnosis.autopsy
    return autopsy is not None and diagnosis.verdict.is_leak is False


def _out_of_memory(diagnosis: Diagnosis) -> Iterator[NextStep]:
    """A leak is mended; what is simply too large is made smaller."""
    autopsy, verdict = diagnosis.autopsy, diagnosis.verdict
    if autopsy is not None:
        # Of a leak the steps of the verdict say what to do.
        if not (verdict.is_leak and autopsy.manner is Manner.LEAK):
            yield from steps_after(autopsy)
    elif verdict.is_leak:
        yield NextStep("The program ran out of memory and leaks: fix the leak first.")
    # Where nothing leaks the program is simply too large: say so, or the verdict sounds wrong.
    elif verdict.is_leak is False:
        yield NextStep(
            "The program ran out of memory without a leak: it needs more than is available. "
            f"{_TOO_LARGE}"
        )
    else:
        yield NextStep(
            "The program ran out of memory before Lowwater could tell whether each "
            f"{unit_of(verdict).name} leaks. {_TOO_LARGE}"
        )
    if autopsy is not None and autopsy.manner in (Manner.TOO_BIG, Manner.INCONCLUSIVE):
        yield NextStep(_TOO_LARGE)
