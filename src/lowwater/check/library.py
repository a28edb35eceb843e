"""What is known of the libraries: the one name of each thing, and what a call of it makes."""

import builtins
from collections.abc import Callable
from functools import cache
from typing import Final

from lowwater.check.things import HEAVY, Thing, ValueKind

# What is read about as a library, even if its files are among those that are checked.
LIBRARIES: Final = frozenset(
    {"keras", "tensorflow", "numpy", "torch", "jax", "sklearn", "pandas", "collections",
     "functools", "contextlib", "lowwater", "itertools", "random", "math", "time", "os", "sys",
     "gc", "copy", "threading", "scipy", "cv2", "PIL", "builtins", "multiprocessing", "ray",
     "optuna", "keras_tuner", "traceback", "logging", "json", "re"}
)  # fmt: skip
_ALIASES: Final = (
    "tensorflow.keras.", "tensorflow.python.keras.", "tensorflow.compat.v1.keras.",
    "tensorflow.compat.v2.keras.", "tf_keras.src.", "tf_keras.api.", "tf_keras.", "keras.src.",
    "keras.api.", "keras._tf_keras.keras.",
)  # fmt: skip
_V1: Final = "tensorflow.compat.v1."


@cache
def canonical(name: str) -> str:
    """`tensorflow.keras.Model` and `keras.src.Model` -> `keras.Model`; v1 is `tensorflow.v1`."""
    dotted = f"{name}."
    for alias in _ALIASES:
        if dotted.startswith(alias):
            return canonical(f"keras.{dotted[len(alias) :]}".rstrip("."))
    if dotted.startswith(_V1):
        return f"tensorflow.v1.{dotted[len(_V1) :]}".rstrip(".")
    if dotted.startswith("tensorflow.compat.v2."):
        return f"tensorflow.{dotted[len('tensorflow.compat.v2.') :]}".rstrip(".")
    return name


def is_library(name: str) -> bool:
    """Whether a dotted name belongs to a library that is known here."""
    return canonical(name).partition(".")[0] in LIBRARIES


def is_known(name: str) -> bool:
    """Whether a function is certainly one of a library: every unbound name may be a built-in."""
    package, _, rest = canonical(name).partition(".")
    return hasattr(builtins, rest) if package == "builtins" else package in LIBRARIES


_MODEL_MAKERS: Final = frozenset(
    {"Sequential", "Model", "Functional", "clone_model", "load_model", "model_from_json",
     "model_from_yaml", "from_saved_model"}
)  # fmt: skip
_TO_ARRAY: Final = frozenset(
    {"array", "asarray", "asanyarray", "ascontiguousarray", "copy", "zeros", "ones", "empty",
     "full", "zeros_like", "ones_like", "full_like", "empty_like", "concatenate", "stack", "vstack",
     "hstack", "dstack", "load", "loadtxt", "genfromtxt", "fromfile", "frombuffer", "arange",
     "linspace", "tile", "repeat", "reshape", "transpose", "expand_dims", "squeeze", "pad", "exp",
     "log", "sqrt", "abs", "square", "matmul", "dot", "einsum", "clip", "where", "append", "eye",
     "random.rand", "random.randn", "random.normal", "random.uniform", "random.random",
     "random.randint", "random.standard_normal", "random.permutation", "argmax", "argsort", "sort",
     "astype", "float32.copy", "broadcast_to", "rot90", "flip", "roll", "maximum", "minimum"}
)  # fmt: skip
REDUCTIONS: Final = frozenset(
    {"mean", "sum", "max", "min", "std", "var", "median", "average", "prod", "any", "all",
     "nanmean", "argmax", "argmin", "amax", "amin", "nansum", "percentile", "quantile", "ptp",
     "count_nonzero"}
)  # fmt: skip
_NUMPY_SCALARS: Final = frozenset(
    {"float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "bool_", "isnan",
     "isfinite", "isclose", "allclose", "array_equal", "size", "ndim", "trapz", "log10.item"}
)  # fmt: skip
_TENSOR_MAKERS: Final = frozenset(
    {"constant", "convert_to_tensor", "zeros", "ones", "fill", "stack", "concat", "reshape", "cast",
     "zeros_like", "ones_like", "matmul", "identity", "stop_gradient", "gather", "range", "square",
     "reduce_mean", "reduce_sum", "reduce_max", "reduce_min", "tensordot", "einsum", "linalg",
     "nn", "math", "random", "image", "abs", "sqrt", "exp", "add", "multiply", "one_hot", "where",
     "expand_dims", "squeeze", "transpose", "tile", "argmax", "split", "clip_by_value", "eye",
     "linspace", "norm", "signal", "tanh", "sigmoid"}
)  # fmt: skip
_BUILTIN_NUMBERS: Final = frozenset(
    {"float", "int", "len", "bool", "round", "hash", "id", "ord", "complex"}
)
_BUILTIN_TEXTS: Final = frozenset({"str", "repr", "format", "chr", "hex", "type"})
_CONTAINERS: Final = frozenset(
    {"list", "dict", "set", "deque", "OrderedDict", "defaultdict", "Counter"}
)


@cache
def made_by(name: str) -> ValueKind | None:
    """What a call of this library function or class makes; None where it is not known."""
    package, _, rest = canonical(name).partition(".")
    asked = _BY_PACKAGE.get(package)
    return None if asked is None else asked(rest, rest.rpartition(".")[2])


_KERAS_PARTS: Final = {
    "layers": ValueKind.LAYER,
    "optimizers": ValueKind.OPTIMIZER,
    "callbacks": ValueKind.CALLBACK,
    "metrics": ValueKind.METRIC,
    "applications": ValueKind.MODEL,
}
_KERAS_NAMES: Final = {
    **dict.fromkeys(_MODEL_MAKERS, ValueKind.MODEL),
    "Input": ValueKind.SYMBOLIC,
    "Variable": ValueKind.VARIABLE,
    "to_categorical": ValueKind.ARRAY,
    "ImageDataGenerator": ValueKind.OTHER,
    # Most often that of a learning rate; of weights it would be an array.
    "get_value": ValueKind.OTHER,
    "convert_to_numpy": ValueKind.ARRAY,
}
_TENSORFLOW_NAMES: Final = {
    "Variable": ValueKind.VARIABLE,
    "Session": ValueKind.SESSION,
    "InteractiveSession": ValueKind.SESSION,
    "Graph": ValueKind.GRAPH,
    "GradientTape": ValueKind.TAPE,
}


def _keras(rest: str, last: str) -> ValueKind | None:
    part = rest.partition(".")[0]
    if last in _KERAS_NAMES:
        return _KERAS_NAMES[last]
    if part in ("backend", "ops"):
        return ValueKind.TENSOR
    if ".schedules." in rest:
        return ValueKind.OTHER
    return _KERAS_PARTS.get(part) if last[:1].isupper() else None


def _tensorflow(rest: str, last: str) -> ValueKind | None:
    rest = rest.removeprefix("v1.")
    if last in _TENSORFLOW_NAMES:
        return _TENSORFLOW_NAMES[last]
    if rest in ("function", "saved_model.load"):
        return ValueKind.TRACED if rest == "function" else ValueKind.MODEL
    if rest.startswith("data.") and (".Dataset" in f".{rest}" or last[:1].isupper()):
        return ValueKind.DATASET
    return ValueKind.TENSOR if rest.partition(".")[0] in _TENSOR_MAKERS else None


def _numpy(rest: str, last: str) -> ValueKind | None:
    if last in _NUMPY_SCALARS:
        return ValueKind.NUMBER
    if rest in ("random.default_rng", "random.RandomState", "random.seed"):
        return ValueKind.OTHER
    if last in _TO_ARRAY or rest in _TO_ARRAY:
        return ValueKind.ARRAY
    return None


def _jax(rest: str, last: str) -> ValueKind | None:
    if rest == "jit":
        return ValueKind.TRACED
    if rest.startswith("numpy.") and (last in _TO_ARRAY or last in REDUCTIONS):
        return ValueKind.TENSOR
    return None


def _torch(rest: str, last: str) -> ValueKind | None:
    if rest.startswith("nn."):
        return ValueKind.MODEL if last in ("Sequential", "Module") else ValueKind.LAYER
    if rest.startswith("optim.") and last[:1].isupper():
        return ValueKind.OPTIMIZER
    if rest in _TO_ARRAY or rest in ("tensor", "from_numpy", "cat", "rand", "randn", "stack"):
        return ValueKind.TENSOR
    return None


_BUILTINS: Final = {
    **dict.fromkeys(_BUILTIN_NUMBERS, ValueKind.NUMBER),
    **dict.fromkeys(_BUILTIN_TEXTS, ValueKind.TEXT),
    **dict.fromkeys(_CONTAINERS, ValueKind.CONTAINER),
}


def _builtin(_: str, last: str) -> ValueKind | None:
    return _BUILTINS.get(last)


def _collections(_: str, last: str) -> ValueKind | None:
    return ValueKind.CONTAINER if last in _CONTAINERS else None


def _number(_: str, last: str) -> ValueKind | None:
    return None if last in ("sample", "choice", "choices") else ValueKind.NUMBER


_BY_PACKAGE: Final[dict[str, Callable[[str, str], ValueKind | None]]] = {
    "keras": _keras,
    "tensorflow": _tensorflow,
    "numpy": _numpy,
    "jax": _jax,
    "torch": _torch,
    "builtins": _builtin,
    "collections": _collections,
    "random": _number,
    "math": _number,
    "time": _number,
}


def is_reduction(name: str) -> bool:
    """`numpy.mean` without an axis is a number."""
    package, _, rest = canonical(name).partition(".")
    return package == "numpy" and rest in REDUCTIONS


_MODEL_METHODS: Final = {
    "predict": ValueKind.ARRAY,
    "predict_on_batch": ValueKind.ARRAY,
    "predict_step": ValueKind.TENSOR,
    "get_weights": ValueKind.ARRAYS,
    "fit": ValueKind.HISTORY,
    "fit_generator": ValueKind.HISTORY,
    "evaluate": ValueKind.NUMBER,
    "train_on_batch": ValueKind.NUMBER,
    "test_on_batch": ValueKind.NUMBER,
    "count_params": ValueKind.NUMBER,
    "to_json": ValueKind.TEXT,
}
_MODEL_ATTRIBUTES: Final = {
    "optimizer": ValueKind.OPTIMIZER,
    "history": ValueKind.HISTORY,
    "weights": ValueKind.ARRAYS,
    "trainable_weights": ValueKind.ARRAYS,
    "trainable_variables": ValueKind.ARRAYS,
    "output": ValueKind.SYMBOLIC,
    "input": ValueKind.SYMBOLIC,
    "outputs": ValueKind.SYMBOLIC,
    "inputs": ValueKind.SYMBOLIC,
    "name": ValueKind.TEXT,
    "stop_training": ValueKind.NUMBER,
}
_SAME: Final = frozenset(
    {"copy", "astype", "reshape", "ravel", "flatten", "transpose", "squeeze", "T", "detach", "cpu",
     "cuda", "to", "clone", "clip", "round", "repeat", "contiguous", "view", "float", "real"}
)  # fmt: skip
PIPELINE_STEPS: Final = frozenset(
    {"map", "batch", "shuffle", "repeat", "prefetch", "cache", "take", "skip", "filter",
     "padded_batch", "interleave", "unbatch", "concatenate", "with_options", "window", "flat_map",
     "enumerate", "shard", "apply", "rebatch", "ragged_batch"}
)  # fmt: skip


_DRAWING: Final = frozenset(
    {"normal", "random", "uniform", "integers", "standard_normal", "choice", "randint", "rand",
     "randn", "permutation", "binomial", "poisson", "exponential", "random_sample"}
)  # fmt: skip


def draws(owner: str, method: str) -> bool:
    """Whether a method of what `np.random.default_rng()` makes gives random numbers."""
    is_generator = owner in ("numpy.random.default_rng", "numpy.random.RandomState")
    return is_generator and method in _DRAWING


_FLOWS: Final = frozenset({"flow", "flow_from_directory", "flow_from_dataframe"})


def flows(owner: str, method: str) -> bool:
    """Whether a method of Keras' `ImageDataGenerator` gives a data set."""
    return owner.endswith(".ImageDataGenerator") and method in _FLOWS


_METHODS: Final = {
    ValueKind.MODEL: _MODEL_METHODS,
    ValueKind.LAYER: {"get_weights": ValueKind.ARRAYS},
    ValueKind.OPTIMIZER: {"get_weights": ValueKind.ARRAYS},
    ValueKind.METRIC: {"result": ValueKind.TENSOR},
    ValueKind.DATASET: dict.fromkeys(PIPELINE_STEPS, ValueKind.DATASET),
    ValueKind.TAPE: dict.fromkeys(("gradient", "jacobian", "batch_jacobian"), ValueKind.TENSOR),
    ValueKind.SESSION: {"run": ValueKind.ARRAY},
    ValueKind.NUMBER: dict.fromkeys(("item", "numpy", "mean", "sum"), ValueKind.NUMBER),
}


def by_method(kind: ValueKind, method: str, *, has_axis: bool) -> ValueKind | None:
    """What a method of such a thing gives; None where it is not known."""
    if kind in HEAVY or kind is ValueKind.VARIABLE:
        return _array_method(kind, method, has_axis=has_axis)
    return _METHODS.get(kind, {}).get(method)


def _array_method(kind: ValueKind, method: str, *, has_axis: bool) -> ValueKind | None:
    if method == "item":
        return ValueKind.NUMBER
    if method in REDUCTIONS and kind is ValueKind.ARRAY and not has_axis:
        return ValueKind.NUMBER
    if method in REDUCTIONS or method in _SAME:
        return kind
    if method in ("numpy", "tolist", "tobytes", "value", "read_value"):
        return ValueKind.TENSOR if method in ("value", "read_value") else ValueKind.ARRAY
    return None


def attribute_of(kind: ValueKind, name: str) -> ValueKind | None:
    """What an attribute of such a thing is; None where it is not known."""
    if kind is ValueKind.CALLBACK and name == "model":
        return ValueKind.MODEL
    if kind is ValueKind.MODEL:
        return _MODEL_ATTRIBUTES.get(name)
    if kind in HEAVY and name in ("shape", "size", "ndim", "nbytes", "dtype"):
        return ValueKind.NUMBER
    if kind in HEAVY and name == "T":
        return kind
    return None


_BASES: Final = {
    "Model": ValueKind.MODEL,
    "Sequential": ValueKind.MODEL,
    "Functional": ValueKind.MODEL,
    "Layer": ValueKind.LAYER,
    "Optimizer": ValueKind.OPTIMIZER,
    "Callback": ValueKind.CALLBACK,
    "Metric": ValueKind.METRIC,
    "PyDataset": ValueKind.DATASET,
    "Sequence": ValueKind.DATASET,
}


@cache
def base_kind(name: str) -> ValueKind | None:
    """What an object is whose class has this library class as a base."""
    package, _, rest = canonical(name).partition(".")
    last = rest.rpartition(".")[2]
    if package == "torch":
        return {"Module": ValueKind.MODEL, "Dataset": ValueKind.DATASET}.get(last)
    if package not in ("keras", "tensorflow"):
        return None
    if last in _BASES:
        return _BASES[last]
    if package == "tensorflow" and last == "Module":
        return ValueKind.LAYER
    made = made_by(name)
    return made if made in _BASES.values() else None


def thing_made_by(thing: Thing) -> ValueKind | None:
    """What a call of a function or class of a library makes."""
    return made_by(thing.name)


_ADDING: Final = _TENSOR_MAKERS | {
    "assign", "assign_add", "assign_sub", "global_variables_initializer", "variables_initializer",
    "initialize_all_variables", "local_variables_initializer", "gradients", "placeholder",
    "Variable", "get_variable", "group", "argmin", "equal", "reduce_any", "reduce_all", "sqrt",
    "log", "pow", "subtract", "divide", "to_float", "to_int32", "maximum", "minimum",
}  # fmt: skip


@cache
def adds_operation(name: str) -> bool:
    """Whether a function of TensorFlow makes an operation, which in a v1 graph is for ever."""
    package, _, rest = canonical(name).partition(".")
    rest = rest.removeprefix("v1.")
    return package == "tensorflow" and rest.partition(".")[0] in _ADDING and name[-1].islower()
