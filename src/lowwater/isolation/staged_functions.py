"""`tf.function` and `jax.jit` on their way: the Python function with the same options.

What was traced or compiled stays here: it is done again where the function is called.
"""

import sys
from collections.abc import Callable
from typing import Any

# ruff: noqa: ANN401 - the functions are the frameworks' own

_TENSORFLOW = "tensorflow.python.eager.polymorphic_function.polymorphic_function"
_JAX_OPTIONS = (
    *("static_argnums", "static_argnames", "donate_argnums", "donate_argnames"),
    *("keep_unused", "inline"),
)


def reduced(thing: Any) -> tuple[Any, ...] | None:
    """How such a function is pickled; None for everything else."""
    kind = getattr(sys.modules.get(_TENSORFLOW), "Function", None)
    if kind is not None and type(thing) is kind:
        return _tensorflow, (thing.python_function, _tensorflow_options(thing))
    if type(thing).__name__ == "PjitFunction" and hasattr(thing, "_jit_info"):
        return _jax, (thing.__wrapped__, _jax_options(thing))
    return None


def _tensorflow_options(function: Any) -> dict[str, Any]:
    return {
        "input_signature": function.input_signature,
        "autograph": function._autograph,  # noqa: SLF001 - nothing public tells it
        "jit_compile": function._jit_compile,  # noqa: SLF001
        "reduce_retracing": function._reduce_retracing,  # noqa: SLF001
        "experimental_autograph_options": function._experimental_autograph_options,  # noqa: SLF001
    }


def _tensorflow(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    import tensorflow as tf

    return tf.function(function, **options)


def _jax_options(function: Any) -> dict[str, Any]:
    options = function._jit_info  # noqa: SLF001 - nothing public tells it
    placed = (*options.in_shardings_leaves, *options.out_shardings_leaves)
    if any(type(one).__name__ != "UnspecifiedValue" for one in placed):
        raise TypeError("a function of jax.jit with shardings belongs to the devices of a process")
    found = {name: getattr(options, name) for name in _JAX_OPTIONS}
    return {**found, "compiler_options": dict(options.compiler_options_kvs) or None}


def _jax(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    import jax

    return jax.jit(function, **options)
