"""What a compiled program of JAX takes: by its own plan, and beside it."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from lowwater.probes.headroom import headroom
from lowwater.sizing.backends._malloc import MallocWatch

# ruff: noqa: ANN401 - programs and arrays are JAX' own

# The program is the same each time, but a look may miss the moment of its peak: quick steps are
# made more often. Steps, and seconds; a guess.
_FEWEST = 4
_MOST = 10
_LONGEST_S = 2.0
# Factor to the plan that has to be free: the libraries of a CPU take up to half of it beside it.
_WITH_WORKSPACE = 2.0
_OVERLAP = (
    "JAX may free the memory of a step only after the next one has started, "
    "so two steps can overlap"
)


@dataclass(frozen=True, slots=True)
class ProgramRun:
    """The peaks of several steps. `step_s` is 0 where none was made, for lack of memory."""

    peaks_bytes: tuple[int, ...]
    step_s: float


def planned_bytes(analysis: Any) -> int:
    """Arguments, results, and what lies between; a result may take an argument's place.

    `peak_memory_in_bytes` leaves out what lies between.
    """
    return int(
        analysis.argument_size_in_bytes
        + analysis.output_size_in_bytes
        - analysis.alias_size_in_bytes
        + analysis.temp_size_in_bytes
    )


def notes_on(place: str, *, is_watched: bool) -> tuple[str, ...]:
    """Where the peaks come from."""
    if not is_watched:
        return (f"On {place}, the peak is that of the compiled plan; this was not tested on a GPU",)
    why_not = MallocWatch().why_not
    if why_not:
        return (f"The peak is only that of the compiled plan: {why_not}",)
    return (_OVERLAP,)


def run(
    program: Any,
    step: Callable[[], Any],
    *,
    is_watched: bool,
    before: Callable[[], None] = lambda: None,
) -> ProgramRun:
    """Make steps, and see what malloc hands out beside the arguments, which are there before.

    `step` returns when its results are there; what it needs is made `before` it. Only the plan
    counts where malloc is not watched: the allocator of a device holds no more than that.
    """
    analysis = program.memory_analysis()
    planned = planned_bytes(analysis)
    room = headroom()
    if is_watched and room is not None and _WITH_WORKSPACE * planned > room:
        return ProgramRun((planned,), 0.0)
    watch = MallocWatch()
    peaks, times = list[int](), list[float]()
    until = time.monotonic() + _LONGEST_S
    while len(peaks) < _FEWEST or (len(peaks) < _MOST and time.monotonic() < until):
        before()
        watch.settle()
        began = time.monotonic()
        with watch:
            step()
        times.append(time.monotonic() - began)
        beside_arguments = watch.highest_bytes - watch.rest_bytes
        seen = int(analysis.argument_size_in_bytes) + beside_arguments
        peaks.append(max(planned, seen) if is_watched else planned)
    # The first one also loads the libraries.
    return ProgramRun(tuple(peaks[1:]), min(times[1:]))


def abstract(tree: Any) -> Any:
    """Shapes and types alone: nothing is computed with them."""
    import jax

    def shape(leaf: Any) -> Any:
        is_array = hasattr(leaf, "shape") and hasattr(leaf, "dtype")
        return jax.ShapeDtypeStruct(leaf.shape, leaf.dtype) if is_array else leaf

    return jax.tree.map(shape, tree)
