"""Boundaries of Keras: epochs, and the calls that train, evaluate and predict."""

from collections.abc import Callable, Iterator
from types import ModuleType

from lowwater.agent.instrumentation._placement import Placement, innermost
from lowwater.agent.instrumentation._tick import Passes
from lowwater.agent.instrumentation.calls import Calls
from lowwater.agent.instrumentation.keras_calls import CALLS


def placements(
    keras: ModuleType, passes_of: Callable[[str], Passes], calls: Calls
) -> Iterator[Placement]:
    """Where the ticks go, for `keras` and `tf_keras` alike."""
    epochs = passes_of("epoch")
    callback_list = keras.callbacks.CallbackList
    # The mark before the first epoch: what training itself took in a one-time jump.
    yield Placement(innermost(callback_list.on_train_begin), epochs.begin, "start")
    yield Placement(innermost(callback_list.on_epoch_end), epochs.completed, "end")
    yield Placement(innermost(callback_list.on_train_end), epochs.after_last_completed, "start")
    for name in CALLS:
        method = getattr(keras.Model, name)
        counted = calls.counter_of_shapes(name, passes_of(name))
        yield Placement(innermost(method), counted, "start", ("x",))
