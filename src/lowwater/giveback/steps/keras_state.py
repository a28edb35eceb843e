"""Clears the global state of Keras, if no living model would notice."""

import gc
import sys
from contextlib import nullcontext
from types import ModuleType
from typing import Any

from lowwater.giveback import living
from lowwater.giveback.gradients.lending import lent
from lowwater.giveback.hollow import is_shell
from lowwater.giveback.in_use import at_work, other_thread_in_keras
from lowwater.giveback.living import Watched, loaded
from lowwater.giveback.parts import outermost, parts_of
from lowwater.giveback.request import ReleaseRequest
from lowwater.giveback.sessions import is_open
from lowwater.giveback.steps._step import ReleaseStep
from lowwater.giveback.unread import held_by_unread_variables
from lowwater.model.frameworks import KERAS

# `clear_session()` forgets them, and models built afterwards would compute something else.
_SETTINGS = (
    "dtype_policy distribution global_random_seed global_seed_generator traceback_filtering "
    "interactive_logging flash_attention nnx_enabled custom_objects_scope_dict torch_device "
    "safe_mode_saving use_legacy_config"
).split()
_STATE = "keras.src.backend.common.global_state"
_RANDOM = frozenset(
    (
        "RandomUniform RandomUniformInt RandomStandardNormal TruncatedNormal RandomShuffle "
        "Multinomial RandomGamma RandomPoissonV2 ParameterizedTruncatedNormal"
    ).split()
)
_MOST_NAMED = 3


class KerasState(ReleaseStep):
    """`clear_session()`, which also empties TensorFlow's default graph and its cache of kernels.

    Under a model that lives on it starts the random numbers of `tf.random` again, so that
    dropout repeats itself, compiles XLA programs anew, and gives new layers the names of old
    ones. So it is refused while a model is in use, unless forced. The settings of Keras (dtype
    policy, seed, distribution) are put back, which `clear_session()` alone forgets.
    """

    name = "clear Keras state"
    is_gentle = False

    def run(self, request: ReleaseRequest) -> str | None:
        """Clear each Keras that the program has imported."""
        libraries = [sys.modules[name] for name in KERAS if _is_ready(name)]
        if not libraries:
            return None
        why_not = _why_not(request)
        if why_not and not request.force:
            return f"refused: {why_not}"
        for keras in libraries:
            _clear(keras)
        # The graph in which tf_keras connects layers has gradients in the registry, too.
        with lent(request.graphs) if _is_ready("tf_keras") else nullcontext():
            gc.collect()
        return ""


def _is_ready(name: str) -> bool:
    return getattr(sys.modules.get(name), "Model", None) is not None


def _why_not(request: ReleaseRequest) -> str:
    """Who would notice; empty where nobody would."""
    in_use = _models_in_use(request)
    if in_use:
        names = ", ".join(one.what for one in in_use[:_MOST_NAMED])
        more = f" and {len(in_use) - _MOST_NAMED} more" if len(in_use) > _MOST_NAMED else ""
        lives = "is still alive" if len(in_use) == 1 else "are still alive"
        return f"{names}{more} {lives}{_advice(in_use, request)}"
    if any(is_open(session) for session in request.living(living.SESSION)):
        return "a v1 session is open, and its graph may be the default graph"
    if _inside_a_graph():
        return "the call is inside a graph"
    busy = other_thread_in_keras()
    if busy:
        return f"{busy} is running Keras"
    drawing = _draws_random(request.living(living.GRAPH))
    return f"{drawing} draws random numbers, and the sequence would restart" if drawing else ""


def _models_in_use(request: ReleaseRequest) -> list[Watched]:
    """The living models, but for those that only variables hold which nothing reads again."""
    alive = [one for one in request.seen if one.kind == living.MODEL and one.is_alive]
    alive = [one for one in alive if not is_shell(one.reference())]
    going = held_by_unread_variables() if alive else set()
    # Asked afterwards: a reference of ours would look like somebody's who needs the model.
    going -= request.kept | {id(part) for model, _ in at_work() for part in parts_of(model)}
    return outermost([one for one in alive if one.identity not in going])


def _advice(in_use: list[Watched], request: ReleaseRequest) -> str:
    """What the caller can do about it; a `lifecycle` has no option for it."""
    if request.block is not None:
        return ""
    given = {one.identity for one in request.alive(living.MODEL)}
    if all(one.identity in given for one in in_use):
        return " (del it first, or pass hollow=True)"
    return " (pass force=True to clear it anyway)"


def _inside_a_graph() -> bool:
    stack = loaded("tensorflow.python.framework.ops", "_default_graph_stack")
    return bool(getattr(stack, "stack", None))


def _draws_random(graphs: list[Any]) -> str:
    """A traced function with random operations whose state lies in the cache of kernels."""
    kind = loaded("tensorflow.python.framework.func_graph", "FuncGraph")
    for graph in graphs:
        if isinstance(graph, kind or ()) and any(
            one.type in _RANDOM for one in graph.get_operations()
        ):
            return living.what_is(graph)
    return ""


def _clear(keras: ModuleType) -> None:
    kept = settings()
    utils: Any = getattr(keras, "utils", None)
    clear = getattr(utils, "clear_session", None)
    if clear is None:  # tf_keras has it in `backend`, and collects nothing itself
        keras.backend.clear_session()
        return
    try:
        clear(free_memory=False)
    except TypeError:  # before Keras 3.1 it did not ask
        clear()
    for name, value in kept.items():
        loaded(_STATE, "set_global_attribute")(name, value)


def settings() -> dict[str, Any]:
    """The settings of Keras that are not the default, its global seed among them."""
    tracker = loaded(_STATE, "GLOBAL_STATE_TRACKER")
    found = {name: getattr(tracker, name, None) for name in _SETTINGS}
    return {name: value for name, value in found.items() if value is not None}
