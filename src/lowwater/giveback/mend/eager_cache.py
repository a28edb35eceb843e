"""LW209 eager-cache: variables whose names differ by a running number share one kernel."""

import functools
import re
import sys
from typing import Any

from lowwater.agent.instrumentation._placement import innermost
from lowwater.causes.upstream.eager_cache import EAGER_CACHE
from lowwater.giveback.mend._repair import Repair, Undo, expect

_VARIABLES = "tensorflow.python.ops.resource_variable_ops"
_MAKERS = "tensorflow.python.ops.gen_resource_variable_ops"
_CONTEXT = "tensorflow.python.eager.context"
# `sequential_6/dense_18/kernel`: what Keras and TensorFlow add to make a name new.
RUNNING_NUMBER = re.compile(r"_\d+(?![0-9A-Za-z])")


class EagerCacheRepair(Repair):
    """Leaves the running number out of the names by which eager variables get their kernels.

    TensorFlow keeps a kernel for every name, shape and type that an eager variable was ever made
    with, 36 KB each. The name is there for error messages only: variables of the same name share
    one kernel already. So `dense_18/kernel` gets that of `dense/kernel`. The variable keeps its
    own name; only a message about a variable that was deleted shows the shorter one.

    The other ways in which this cache grows, seeds and Python numbers, stay as they are.
    """

    leak = EAGER_CACHE
    library = "TensorFlow"
    part = "variable names"
    first, last = (2, 16), (2, 21)

    def check(self) -> None:
        """See that the name of a variable goes where it is expected to, and nowhere else."""
        variables, makers = sys.modules[_VARIABLES], sys.modules[_MAKERS]
        expect(variables.gen_resource_variable_ops is makers, "variables are created elsewhere")
        code = innermost(variables._variable_handle_from_shape_and_dtype).__code__  # noqa: SLF001
        expect("var_handle_op" in code.co_names, "variables are created differently")
        expect("anonymous_name" in code.co_names, "eager variables are not anonymous")
        parameters = innermost(makers.var_handle_op).__code__.co_varnames
        expect({"debug_name", "shared_name"} <= {*parameters}, "variables have other parameters")
        expect(isinstance(sys.modules[_CONTEXT].anonymous_name(), str), "names are not strings")

    def apply(self) -> Undo:
        """Put a function around the one that makes variables."""
        makers = sys.modules[_MAKERS]
        make = makers.var_handle_op
        ours = _without_running_numbers(make, sys.modules[_CONTEXT].anonymous_name())
        makers.__dict__["var_handle_op"] = ours

        def undo() -> None:
            # Somebody may have put another one around it meanwhile.
            if makers.__dict__["var_handle_op"] is ours:
                makers.__dict__["var_handle_op"] = make
            ours.is_on = False

        return undo


def _without_running_numbers(make: Any, anonymous: str) -> Any:  # noqa: ANN401 - TensorFlow's
    @functools.wraps(make)
    def var_handle_op(*arguments: Any, **options: Any) -> Any:  # noqa: ANN401
        name = options.get("debug_name")
        # Only eager variables are anonymous; in a graph the name is more than a message.
        if name and options.get("shared_name") == anonymous:
            options["debug_name"] = kept_as(name)
        return make(*arguments, **options)

    def kept_as(name: str) -> str:
        """By which name the kernel of an eager variable is kept: who counts kernels asks for it."""
        return RUNNING_NUMBER.sub("", name) if ours.is_on else name

    ours: Any = var_handle_op
    ours.is_on, ours.kept_as = True, kept_as
    return ours
