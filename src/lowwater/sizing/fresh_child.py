"""A call in a fresh process of the fork server, with an environment of its own."""

import os
import pickle
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from lowwater.agent.instrumentation.uncaught import failure
from lowwater.errors import NotPicklable
from lowwater.isolation.call import packed
from lowwater.isolation.engines import Local
from lowwater.isolation.limits import Limits
from lowwater.isolation.local.result import value_of
from lowwater.isolation.order import TrialOrder
from lowwater.isolation.parcel import Parcel, pack
from lowwater.isolation.surroundings import Surroundings
from lowwater.model.out_of_memory import is_out_of_memory

# ruff: noqa: ANN401 - functions and results are of any kind


def in_fresh_child(
    function: Callable[..., Any],
    *arguments: Any,
    variables: Mapping[str, str],
    device_bytes: int | None = None,
) -> Any:
    """What the function returns there; what it raises is raised here.

    The child has the variables before it unpacks anything: TensorFlow chooses its allocator when
    the first tensor is made. Our own environment stays as it is.
    """
    sent = _packed(arguments)
    arrays = [np.frombuffer(one, np.uint8) for one in sent.buffers]
    call = packed(_called, (function, bytes(sent.pickled), arrays), {})
    there = replace(Surroundings.here(), variables={**os.environ, **_same_backend(), **variables})
    raw = Local().run(TrialOrder(call, Limits(device_bytes=device_bytes), there))
    if raw.error is not None:
        raise raw.error
    assert raw.result is not None
    return value_of(raw.result)


def _same_backend() -> Mapping[str, str]:
    """Also where it was chosen by a file or in the program."""
    keras: Any = sys.modules.get("keras")
    name = getattr(getattr(keras, "backend", None), "backend", str)()
    return {"KERAS_BACKEND": name} if name else {}


def _packed(arguments: tuple[Any, ...]) -> Parcel:
    try:
        # What Keras warns of when it saves a model has nothing to do with the user either.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return pack(arguments)
    except Exception as error:  # noqa: BLE001 - pickling raises whatever it meets
        raise _cannot_be_sent(error) from None


def _called(function: Callable[..., Any], pickled: bytes, arrays: Sequence[Any]) -> Any:
    """In the child. What it says of models that it loads, and of steps that do not fit, is ours."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            # From our own process, as in `isolation.parcel`.
            given = pickle.loads(pickled, buffers=arrays)  # noqa: S301
        except Exception as error:
            if is_out_of_memory(error):
                raise
            raise _cannot_be_sent(error) from None
        return function(*given)


def _cannot_be_sent(error: Exception) -> NotPicklable:
    """Keras tells at length why it cannot make a model again: the first sentence has to do."""
    told = failure(error)
    return NotPicklable(
        "the model cannot be sent to another process to be measured",
        received=told.error if told else type(error).__name__,
        advice="add get_config() to its class, or measure it in its script: "
        "lowwater footprint train.py",
    )
