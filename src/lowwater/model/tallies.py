"""Names of what a census tallies beside objects: what frameworks do, and at which line.

A tally has a kind (below), a name, the user's line and one count per census.
"""

from typing import Final, NamedTuple

# How often a `tf.function` was traced, over all live ones with the same definition.
# name: the function; where: its definition, decorators included; about: the argument that changes.
TRACES: Final = "trace"
# How many such `tf.function` objects were called for the first time so far, also those that are
# gone: their graphs may not be. name and where as above.
FUNCTIONS: Final = "function"
# Models, sessions and data sets that live (sessions: are open).
# name: the class (`Sequential`, `CacheDataset`); where: the user's line that made them;
# about, for data sets: `endless` where its input never ends, `in a file` for a cache in one.
MODELS: Final = "model"
SESSIONS: Final = "session"
DATASETS: Final = "dataset"
# Optimizers that were made so far. name: the class; where: the user's line.
OPTIMIZERS: Final = "optimizer"
# Operations in the v1 graphs that live. where: the line that added the latest.
OPERATIONS: Final = "operation"
# Gradient tapes that record now and did so at the census before. where: the only line that makes
# such a tape.
TAPES: Final = "tape"
# Calls of `fit`, `predict`, `compile`, `clear_session` … so far. name: the method; where: the line.
# Names of other events that are counted in the same way follow below.
CALLS: Final = "call"
# Models that were made, whether or not they live.
MODEL: Final = "Model"
# `tf.random.set_seed`, which empties TensorFlow's cache of kernels as `clear_session` does.
SEED_SET: Final = "set_seed"
# Seeds that eager random operations drew because there is a global seed.
SEED_DRAWN: Final = "random op"
# Eager variables whose name was new, and Python numbers that became tensors and were new.
VARIABLE_NAMED: Final = "variable"
NUMBER: Final = "number"
# Lookup tables that have a name of their own, in memory.
TABLE: Final = "lookup table"
# Functions that were made with `jit_compile=True`.
XLA: Final = "jit_compile"
# Different shapes that such calls were given so far. name: the method; where: the line.
SHAPES: Final = "shape"
# Entries of TensorFlow's gradient registry.
GRADIENTS: Final = "gradient"
# The collector: 1 for name `enabled` while it is on; name `frozen`: objects out of its reach.
COLLECTOR: Final = "collector"


class Row(NamedTuple):
    """What is counted."""

    kind: str
    name: str
    where: str | None = None
    about: str = ""
