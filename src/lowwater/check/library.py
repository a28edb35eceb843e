"""What is known of the libraries: the one name of each thing, and what a call of it makes."""

from functools import cache
from typing import Final

from lowwater.check.things import HEAVY, Kind, Thing

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
_REDUCTIONS: Final = frozenset(
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
     "linspace", "concat", "ones_like", "norm", "signal", "tanh", "sigmoid"}
)  # fmt: skip
_BUILTIN_NUMBERS: Final = frozenset(
    {"float", "int", "len", "bool", "round", "hash", "id", "ord", "complex"}
)
_BUILTIN_TEXTS: Final = frozenset({"str", "repr", "format", "chr", "hex", "type"})
_CONTAINERS: Final = frozenset(
    {"list", "dict", "set", "deque", "OrderedDict", "defaultdict", "Counter"}
)


@cache
def made_by(name: str) -> Kind | None:
    """What a call of this library function or class makes; None where it is not known."""
    package, _, rest = canonical(name).partition(".")
    last = rest.rpartition(".")[2]
    asked = {"keras": _keras, "tensorflow": _tensorflow, "numpy": _numpy, "jax": _jax}.get(package)
    if asked is not None:
        return asked(rest, last)
    if package == "torch":
        return _torch(rest, last)
    if package == "builtins":
        return _builtin(last)
    if package == "collections" and last in _CONTAINERS:
        return Kind.CONTAINER
    if package in ("random", "math", "time") and last not in ("sample", "choice", "choices"):
        return Kind.NUMBER
    if package == "copy":
        return None
    return None


def _keras(rest: str, last: str) -> Kind | None:
    is_class = last[:1].isupper()
    part = rest.partition(".")[0]
    if last in _MODEL_MAKERS or (part == "applications" and is_class):
        return Kind.MODEL
    if last == "Input":
        return Kind.SYMBOLIC
    by_part = {
        "layers": Kind.LAYER,
        "optimizers": Kind.OTHER if ".schedules." in f".{rest}" else Kind.OPTIMIZER,
        "callbacks": Kind.CALLBACK,
        "metrics": Kind.METRIC,
    }
    if is_class and part in by_part:
        return by_part[part]
    if last == "Variable":
        return Kind.VARIABLE
    if rest.startswith(("backend.", "ops.")):
        return {"get_value": Kind.ARRAY, "convert_to_numpy": Kind.ARRAY}.get(last, Kind.TENSOR)
    if last == "to_categorical":
        return Kind.ARRAY
    return None


def _tensorflow(rest: str, last: str) -> Kind | None:
    rest = rest.removeprefix("v1.")
    if last == "Variable":
        return Kind.VARIABLE
    if last in ("Session", "InteractiveSession"):
        return Kind.SESSION
    if last == "Graph":
        return Kind.GRAPH
    if last == "GradientTape":
        return Kind.TAPE
    if rest == "function":
        return Kind.TRACED
    if rest.startswith("data.") and (".Dataset" in f".{rest}" or last[:1].isupper()):
        return Kind.DATASET
    if rest == "saved_model.load":
        return Kind.MODEL
    if rest.partition(".")[0] in _TENSOR_MAKERS:
        return Kind.TENSOR
    return None


def _numpy(rest: str, last: str) -> Kind | None:
    if last in _NUMPY_SCALARS:
        return Kind.NUMBER
    if rest in ("random.default_rng", "random.RandomState", "random.seed"):
        return Kind.OTHER
    if last in _TO_ARRAY or rest in _TO_ARRAY:
        return Kind.ARRAY
    return None


def _jax(rest: str, last: str) -> Kind | None:
    if rest == "jit":
        return Kind.TRACED
    if rest.startswith("numpy.") and (last in _TO_ARRAY or last in _REDUCTIONS):
        return Kind.TENSOR
    return None


def _torch(rest: str, last: str) -> Kind | None:
    if rest.startswith("nn."):
        return Kind.MODEL if last in ("Sequential", "Module") else Kind.LAYER
    if rest.startswith("optim.") and last[:1].isupper():
        return Kind.OPTIMIZER
    if rest in _TO_ARRAY or rest in ("tensor", "from_numpy", "cat", "rand", "randn", "stack"):
        return Kind.TENSOR
    return None


def _builtin(last: str) -> Kind | None:
    if last in _BUILTIN_NUMBERS:
        return Kind.NUMBER
    if last in _BUILTIN_TEXTS:
        return Kind.TEXT
    if last in _CONTAINERS:
        return Kind.CONTAINER
    return None


def is_reduction(name: str) -> bool:
    """`numpy.mean` without an axis is a number."""
    package, _, rest = canonical(name).partition(".")
    return package == "numpy" and rest in _REDUCTIONS


_MODEL_METHODS: Final = {
    "predict": Kind.ARRAY,
    "predict_on_batch": Kind.ARRAY,
    "predict_step": Kind.TENSOR,
    "get_weights": Kind.ARRAYS,
    "fit": Kind.HISTORY,
    "fit_generator": Kind.HISTORY,
    "evaluate": Kind.NUMBER,
    "train_on_batch": Kind.NUMBER,
    "test_on_batch": Kind.NUMBER,
    "count_params": Kind.NUMBER,
    "to_json": Kind.TEXT,
}
_MODEL_ATTRIBUTES: Final = {
    "optimizer": Kind.OPTIMIZER,
    "history": Kind.HISTORY,
    "weights": Kind.ARRAYS,
    "trainable_weights": Kind.ARRAYS,
    "trainable_variables": Kind.ARRAYS,
    "output": Kind.SYMBOLIC,
    "input": Kind.SYMBOLIC,
    "outputs": Kind.SYMBOLIC,
    "inputs": Kind.SYMBOLIC,
    "name": Kind.TEXT,
    "stop_training": Kind.NUMBER,
}
_SAME: Final = frozenset(
    {"copy", "astype", "reshape", "ravel", "flatten", "transpose", "squeeze", "T", "detach", "cpu",
     "cuda", "to", "clone", "clip", "round", "repeat", "contiguous", "view", "float", "real"}
)  # fmt: skip
_PIPELINE: Final = frozenset(
    {"map", "batch", "shuffle", "repeat", "prefetch", "cache", "take", "skip", "filter",
     "padded_batch", "interleave", "unbatch", "concatenate", "with_options", "window", "flat_map",
     "enumerate", "shard", "apply", "rebatch", "ragged_batch"}
)  # fmt: skip


def by_method(kind: Kind, method: str, *, has_axis: bool) -> Kind | None:
    """What a method of such a thing gives; None where it is not known."""
    if kind is Kind.MODEL:
        return _MODEL_METHODS.get(method)
    if kind in (Kind.LAYER, Kind.OPTIMIZER) and method == "get_weights":
        return Kind.ARRAYS
    if kind is Kind.METRIC:
        return {"result": Kind.TENSOR}.get(method)
    if kind in HEAVY or kind is Kind.VARIABLE:
        return _array_method(kind, method, has_axis=has_axis)
    if kind is Kind.NUMBER and method in ("item", "numpy", "mean", "sum"):
        return Kind.NUMBER
    if kind is Kind.DATASET and method in _PIPELINE:
        return Kind.DATASET
    if kind is Kind.TAPE and method in ("gradient", "jacobian", "batch_jacobian"):
        return Kind.TENSOR
    if kind is Kind.SESSION and method == "run":
        return Kind.ARRAY
    return None


def _array_method(kind: Kind, method: str, *, has_axis: bool) -> Kind | None:
    if method == "item":
        return Kind.NUMBER
    if method in _REDUCTIONS and kind is Kind.ARRAY and not has_axis:
        return Kind.NUMBER
    if method in _REDUCTIONS or method in _SAME:
        return kind
    if method in ("numpy", "tolist", "value", "read_value"):
        return Kind.TENSOR if method in ("value", "read_value") else Kind.ARRAY
    return None


def attribute_of(kind: Kind, name: str) -> Kind | None:
    """What an attribute of such a thing is; None where it is not known."""
    if kind is Kind.CALLBACK and name == "model":
        return Kind.MODEL
    if kind is Kind.MODEL:
        return _MODEL_ATTRIBUTES.get(name)
    if kind in HEAVY and name in ("shape", "size", "ndim", "nbytes", "dtype"):
        return Kind.NUMBER
    if kind in HEAVY and name == "T":
        return kind
    return None


_BASES: Final = {
    "Model": Kind.MODEL,
    "Sequential": Kind.MODEL,
    "Functional": Kind.MODEL,
    "Layer": Kind.LAYER,
    "Optimizer": Kind.OPTIMIZER,
    "Callback": Kind.CALLBACK,
    "Metric": Kind.METRIC,
    "PyDataset": Kind.DATASET,
    "Sequence": Kind.DATASET,
}


@cache
def base_kind(name: str) -> Kind | None:
    """What an object is whose class has this library class as a base."""
    package, _, rest = canonical(name).partition(".")
    last = rest.rpartition(".")[2]
    if package == "torch":
        return Kind.MODEL if last == "Module" else None
    if package not in ("keras", "tensorflow"):
        return None
    if last in _BASES:
        return _BASES[last]
    made = made_by(name)
    return made if made in _BASES.values() else None


def thing_made_by(thing: Thing) -> Kind | None:
    """What a call of a function or class of a library makes."""
    return made_by(thing.name)
