"""What an object on a path is, told by the names of its classes; the program's names never count.

The same class has several addresses: `keras.src.models.model.Model`, `tf_keras.src.engine.…`,
`tensorflow.python.keras.…`. So a class is known by its own name and the library that it is in.
"""

from lowwater.model import WITH_GRAPH, Step
from lowwater.model.frameworks import FRAMEWORKS, PY_DATASETS, WITH_KERAS, package_of

_TENSORFLOW = frozenset({"tensorflow"})
LIBRARIES = FRAMEWORKS | {"numpy"}
_PLAIN = frozenset({"list", "dict", "tuple", "set", "frozenset", "deque", "collections.deque"}) | {
    "collections.defaultdict",
    "collections.OrderedDict",
    "mappingproxy",
    "cell",
    "_contextvars.ContextVar",
    "queue.Queue",
    "queue.LifoQueue",
    "queue.PriorityQueue",
}
_FUNCTIONS = frozenset(
    {"function", "method", "builtin_function_or_method", "functools.partial", "partial"}
)


def class_name(full: str) -> str:
    """`keras.src.models.model.Model` -> `Model`; local classes lose where they are defined."""
    return full.rpartition(".")[2]


def library_of(step: Step) -> str | None:
    """The framework that the object's class is part of; None for the program's own."""
    top = package_of(step.type)
    return top if top in LIBRARIES else None


def is_module(step: Step) -> bool:
    """A module: its variables live as long as the program."""
    return step.type == "module"


def is_frame(step: Step) -> bool:
    """A call: running, suspended in a generator, or kept by a traceback."""
    return step.type == "frame"


def is_class(step: Step) -> bool:
    """A class itself: what is in its attributes is shared by all instances."""
    return "type" in _kinds(step)


def is_plain(step: Step) -> bool:
    """A container that says nothing by itself: what matters is who has it."""
    return step.type in _PLAIN


def is_callback(step: Step) -> bool:
    """A Keras callback, but not the list that Keras keeps them in."""
    return _is(step, WITH_KERAS, "Callback") and not _is(step, WITH_KERAS, "CallbackList")


def is_callback_list(step: Step) -> bool:
    """What Keras keeps the callbacks of a call in."""
    return _is(step, WITH_KERAS, "CallbackList")


def is_history(step: Step) -> bool:
    """What `fit` returns."""
    return _is(step, WITH_KERAS, "History")


def is_model(step: Step) -> bool:
    """A Keras model of any style."""
    return _is(step, WITH_KERAS, "Model", "Sequential", "Functional")


def is_layer(step: Step) -> bool:
    """A Keras layer, or anything else that can be connected to one: a model, an operation."""
    return _is(step, WITH_KERAS, "Layer", "Operation")


def is_sequence(step: Step) -> bool:
    """A data set written in Python: `PyDataset`, formerly `Sequence`."""
    return _is(step, WITH_KERAS, *PY_DATASETS)


def is_dataset(step: Step) -> bool:
    """A `tf.data` pipeline, or an iterator over one."""
    return _is(step, _TENSORFLOW, "DatasetV2", "DatasetV1", "OwnedIterator", "IteratorBase")


def is_tf_function(step: Step) -> bool:
    """A `tf.function`, or a function of the older kind inside one."""
    in_eager = any(kind.startswith("tensorflow.python.eager.") for kind in _kinds(step))
    return in_eager and _is(step, _TENSORFLOW, "Function", "TracingCompiler")


def is_traced_graph(step: Step) -> bool:
    """What one tracing of a `tf.function` has made."""
    return _is(step, _TENSORFLOW, "FuncGraph", "ConcreteFunction", "AtomicFunction")


def is_v1_graph(step: Step) -> bool:
    """A graph of its own, as programs of TensorFlow 1 build; traced ones are its subclass."""
    return _is(step, _TENSORFLOW, "Graph") and not is_traced_graph(step)


def is_session(step: Step) -> bool:
    """A session of `tf.compat.v1`."""
    return _is(step, _TENSORFLOW, "BaseSession", "Session", "InteractiveSession")


def is_tape(step: Step) -> bool:
    """A `GradientTape`."""
    return _is(step, _TENSORFLOW, "GradientTape")


def is_registry(step: Step) -> bool:
    """One of TensorFlow's global tables, such as that of gradient functions."""
    return _is(step, _TENSORFLOW, "Registry")


def is_native_alone(step: Step) -> bool:
    """Whether hardly anything of what it keeps in memory is a Python object."""
    return is_tape(step) or is_session(step) or is_dataset(step) or is_undetached(step)


def is_native_backed(step: Step) -> bool:
    """Whether the Python object is the small part of what it keeps in memory."""
    looks = (is_model, is_dataset, is_tf_function, is_traced_graph, is_v1_graph)
    return any(look(step) for look in (*looks, is_session, is_tape, is_undetached))


def is_undetached(step: Step) -> bool:
    """A tensor of torch that keeps all that it was computed from, outside of Python."""
    return step.about.endswith(WITH_GRAPH)


def is_exception(step: Step) -> bool:
    """An exception that was caught and kept."""
    return any(kind in ("BaseException", "Exception") for kind in _kinds(step))


def is_traceback(step: Step) -> bool:
    """The way that an exception came, frame by frame."""
    return step.type == "traceback"


def is_generator(step: Step) -> bool:
    """A generator or coroutine, which keeps the variables of its call.

    Or a generator's call while a library waits for its next item.
    """
    waits = step.type in ("generator", "async_generator", "coroutine")
    return waits or (is_frame(step) and "generator" in step.kinds)


def is_function(step: Step) -> bool:
    """A Python function, a method or a partial."""
    return step.type in _FUNCTIONS


def is_cell(step: Step) -> bool:
    """The box in which a closure keeps one variable."""
    return step.type == "cell"


def is_memo(step: Step) -> bool:
    """A function behind `functools.lru_cache` or `functools.cache`."""
    return class_name(step.type) == "_lru_cache_wrapper"


def is_tensor(step: Step) -> bool:
    """A tensor of any framework."""
    return class_name(step.type) in ("EagerTensor", "Tensor", "ArrayImpl", "SymbolicTensor")


def is_variable(step: Step) -> bool:
    """A variable of Keras or TensorFlow."""
    return class_name(step.type) in ("Variable", "ResourceVariable", "KerasVariable", "Parameter")


def is_array(step: Step) -> bool:
    """A NumPy array."""
    return class_name(step.type) in ("ndarray", "memmap")


def _is(step: Step, libraries: frozenset[str], *names: str) -> bool:
    return any(package_of(kind) in libraries and class_name(kind) in names for kind in _kinds(step))


def _kinds(step: Step) -> tuple[str, ...]:
    return tuple(kind.removeprefix("builtins.") for kind in step.kinds or (step.type,))
