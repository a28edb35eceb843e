"""Of the exception that ends a script its type and one line are kept; an OOM is recognised."""

import numpy as np
import pytest

from lowwater.agent.instrumentation.uncaught import failure


def an_error(library, name, text, *bases):
    """An exception as a library would raise it; none is imported for it."""
    return type(name, bases or (Exception,), {"__module__": f"{library}.errors"})(text)


def of_numpy():
    try:
        np.empty(1 << 50, dtype="float64")
    except MemoryError as error:
        return error


TENSORFLOW = """\
Graph execution error:

Detected at node adam/AssignAddVariableOp_1 defined at (most recent call last):
  File "train.py", line 8, in <module>

  File "keras/trainer.py", line 399, in fit

OOM when allocating tensor with shape[1024,1024] and type float
\t [[{{node adam/AssignAddVariableOp_1}}]]
"""


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        of_numpy(),
        an_error("tensorflow.python", "ResourceExhaustedError", TENSORFLOW),
        an_error("torch.cuda", "OutOfMemoryError", "CUDA out of memory.", RuntimeError),
        RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried …"),
        an_error("jaxlib", "XlaRuntimeError", "RESOURCE_EXHAUSTED: Out of memory", RuntimeError),
        an_error("jax", "JaxRuntimeError", "RESOURCE_EXHAUSTED: Out of memory", RuntimeError),
    ],
)
def test_every_library_has_its_own_out_of_memory(error):
    assert failure(error).out_of_memory


@pytest.mark.parametrize(
    "error",
    [
        AttributeError("no attribute 'validation_data'"),
        RuntimeError("RESOURCE_EXHAUSTED"),
        an_error("jaxlib", "XlaRuntimeError", "INVALID_ARGUMENT: shapes", RuntimeError),
        an_error("mine", "OutOfMemoryError", "of a game"),
    ],
)
def test_other_errors_are_none(error):
    assert not failure(error).out_of_memory


def test_an_error_that_memory_has_caused_is_one():
    error = ValueError("the trial failed")
    error.__cause__ = MemoryError()

    assert failure(error).out_of_memory
    assert failure(error).error == "ValueError: the trial failed"


def test_a_circle_of_causes_has_an_end():
    error = ValueError("again")
    error.__cause__ = error

    assert not failure(error).out_of_memory


def test_headings_and_tracebacks_in_a_message_are_passed_over():
    told = failure(an_error("tensorflow", "ResourceExhaustedError", TENSORFLOW)).error

    assert told == (
        "ResourceExhaustedError: OOM when allocating tensor with shape[1024,1024] and type float"
    )


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ValueError("first\nsecond"), "ValueError: first"),
        (ValueError(), "ValueError"),
        (ValueError("\x1b[2Jgone\udce9"), "ValueError: ?[2Jgone?"),
        (ValueError("it failed:"), "ValueError: it failed:"),
    ],
)
def test_one_printable_line_is_told(error, told):
    assert failure(error).error == told


def test_a_long_message_is_cut():
    assert len(failure(ValueError("x" * 10_000_000)).error) == 300


def test_a_message_that_cannot_be_made_costs_only_itself():
    class BrokenError(Exception):
        def __str__(self):
            raise ZeroDivisionError

    assert failure(BrokenError()).error == "BrokenError"


@pytest.mark.parametrize("error", [None, SystemExit("usage: …"), KeyboardInterrupt()])
def test_a_script_that_ends_as_it_was_meant_to_has_not_failed(error):
    assert failure(error) is None
