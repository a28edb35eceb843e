"""Counts what TensorFlow keeps for good and no Python object shows, by the line that causes it.

A kernel stays for every new seed of an eager random operation and every new name of a variable, a
handle for every new Python number, the entries of every lookup table, and every program that XLA
has compiled. Nothing here holds on to a tensor, a table or a function of the program.
"""

from collections.abc import Callable, Hashable, Iterator, Mapping
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any, TypeAlias

from lowwater.agent.instrumentation._placement import Placement, innermost
from lowwater.agent.instrumentation.calls import Calls
from lowwater.model import tallies

Placements: TypeAlias = Callable[[ModuleType, Calls], Iterator[Placement]]
# Enough to tell ever-new ones from a few that come again; about a megabyte when it is full.
_MOST_REMEMBERED = 1 << 14
_MOST_WRAPPERS = 16


class _Known:
    """What was seen before; when it is full it forgets, so that it never grows without end."""

    def __init__(self) -> None:
        self.seen: set[Hashable] = set()

    def is_new(self, thing: Hashable) -> bool:
        if thing in self.seen:
            return False
        if len(self.seen) >= _MOST_REMEMBERED:
            self.seen.clear()
        self.seen.add(thing)
        return True


def seed_placements(context: ModuleType, calls: Calls) -> Iterator[Placement]:
    """Under a global seed every eager random operation draws a seed of its own."""
    kind = context.Context
    drawn, reset = calls.counter(tallies.SEED_DRAWN), calls.counter(tallies.SEED_SET)
    yield Placement(innermost(kind._internal_operation_seed), drawn, "start")  # noqa: SLF001
    # This empties the cache of kernels.
    yield Placement(innermost(kind._set_global_seed), reset, "start")  # noqa: SLF001


def variable_placements(resource_variable_ops: ModuleType, calls: Calls) -> Iterator[Placement]:
    """Eager variables with a name, shape and type that were never there before."""
    known, count = _Known(), calls.counter(tallies.VARIABLE_NAMED)
    makers = getattr(resource_variable_ops, "gen_resource_variable_ops", None)

    def named(name: object, shape: object, dtype: object, graph_mode: object) -> None:
        if graph_mode:
            return
        # Where it is mended, names that differ by a number share a kernel.
        kept_as = getattr(getattr(makers, "var_handle_op", None), "kept_as", None)
        name = kept_as(name) if kept_as and isinstance(name, str) else name
        if known.is_new(hash((name, str(shape), str(dtype)))):
            count()

    make = resource_variable_ops._variable_handle_from_shape_and_dtype  # noqa: SLF001
    yield Placement(innermost(make), named, "start", ("name", "shape", "dtype", "graph_mode"))


def number_placements() -> Mapping[str, Placements]:
    """Python numbers that became tensors, seen where they are converted and where they are added.

    These are hot paths: what is not a Python number is let through in a tenth of a microsecond.
    """
    known = _Known()

    def in_constants(constant_op: ModuleType, calls: Calls) -> Iterator[Placement]:
        count, seen = calls.counter(tallies.NUMBER), known.seen

        def converted(value: object) -> None:
            kind = type(value)
            # Looked up here: two calls of a step end in this line, and a call is not free.
            if (kind is float or kind is int) and value not in seen and known.is_new(value):
                count()

        yield Placement(
            innermost(constant_op.convert_to_eager_tensor), converted, "start", ("value",)
        )

    def in_operators(operators: ModuleType, calls: Calls) -> Iterator[Placement]:
        count = calls.counter(tallies.NUMBER)

        def combined(operands: tuple[object, ...]) -> None:
            for operand in operands:
                kind = type(operand)
                if (kind is float or kind is int) and known.is_new(operand):
                    count()

        yield Placement(innermost(operators.maybe_promote_tensors), combined, "start", ("tensors",))

    return {
        "tensorflow.python.framework.constant_op": in_constants,
        "tensorflow.python.framework.override_binary_operator": in_operators,
    }


def table_placements(lookup_ops: ModuleType, calls: Calls) -> Iterator[Placement]:
    """Lookup tables that TensorFlow never frees: in memory, and known by a name of their own."""
    count = calls.counter(tallies.TABLE)

    def made(initializer: object, is_anonymous: object) -> None:
        # A table that is read from a file is shared by all who read the same file.
        if not is_anonymous and not issubclass(type(initializer), lookup_ops.TextFileInitializer):
            count()

    def made_mutable(is_anonymous: object) -> None:
        if not is_anonymous:
            count()

    anonymous = "experimental_is_anonymous"
    static, mutable = lookup_ops.StaticHashTable, lookup_ops.MutableHashTable
    yield Placement(innermost(static.__init__), made, "start", ("initializer", anonymous))
    yield Placement(innermost(mutable.__init__), made_mutable, "start", (anonymous,))


def compiled_placements(polymorphic: ModuleType, calls: Calls) -> Iterator[Placement]:
    """Each `tf.function` when it is first called, and those that XLA compiles among them.

    Keras makes functions for XLA by the dozen and calls few: only what is called is compiled.
    """
    count = calls.counter(tallies.XLA)

    def first_called(function: Any) -> None:  # noqa: ANN401 - a function of TensorFlow
        calls.count_definition(_code_of(getattr(function, "_python_function", None)))
        if getattr(function, "_jit_compile", None):
            count()

    first_call = innermost(polymorphic.Function._initialize)  # noqa: SLF001
    yield Placement(first_call, first_called, "start", ("self",))


def _code_of(function: Any) -> CodeType | None:  # noqa: ANN401
    """The code of the program's own function, below all that TensorFlow wraps around it."""
    for _ in range(_MOST_WRAPPERS):
        inner = vars(function).get("__wrapped__") if type(function) is FunctionType else None
        if inner is None:
            break
        function = inner.__func__ if type(inner) is MethodType else inner
    return function.__code__ if type(function) is FunctionType else None


def python_function_placements(script_ops: ModuleType, calls: Calls) -> Iterator[Placement]:
    """Python functions that are handed to TensorFlow."""
    yield Placement(innermost(script_ops.eager_py_func), calls.counter("py_function"), "start")
    numpy_function = innermost(script_ops.numpy_function)
    yield Placement(numpy_function, calls.counter("numpy_function"), "start")


def placements() -> Mapping[str, Placements]:
    """For each module of TensorFlow what is to be placed there, once it is loaded."""
    return {
        "tensorflow.python.eager.context": seed_placements,
        "tensorflow.python.ops.resource_variable_ops": variable_placements,
        "tensorflow.python.ops.lookup_ops": table_placements,
        "tensorflow.python.ops.script_ops": python_function_placements,
        "tensorflow.python.eager.polymorphic_function.polymorphic_function": compiled_placements,
        **number_placements(),
    }
