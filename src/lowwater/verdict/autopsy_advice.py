"""What follows from an autopsy: the batch that would have fitted, and what to do next."""

from typing import Final

from lowwater.model import Timeline, gauges
from lowwater.model.autopsy import Manner, Scene
from lowwater.model.units import format_bytes
from lowwater.verdict.shortage import Shortage

_SCRIPT: Final = "script"
_UNKNOWN_SCRIPT: Final = "YOUR_SCRIPT.py"


def largest_batch(manner: Manner, facts: Shortage, batch: int | None) -> int | None:
    """At most what would have fitted, where one step needs more than was left for it."""
    demand = facts.demand
    if manner is not Manner.TOO_BIG or not batch or not demand:
        return None
    if facts.limit is None or facts.kept is None or facts.kept >= facts.limit:
        return None
    fits = batch * (facts.limit - facts.kept) // demand
    return fits if 0 < fits < batch else None


def about_batch(manner: Manner, facts: Shortage, batch: int | None, largest: int | None) -> str:
    """A sentence about the batch, or about the size of requests; empty where there is none."""
    if manner is Manner.LEAK and facts.growth is not None and facts.growth.growth_bytes_per_unit:
        return "a smaller one only delays the failure: the leak fills any memory"
    if manner is Manner.FRAGMENTED and facts.largest_free:
        return f"requests of up to {format_bytes(facts.largest_free)} would still have fitted"
    if largest is not None:
        return f"at most about {largest} would have fitted, instead of {batch}"
    return ""


def next_steps(
    manner: Manner, facts: Shortage, timeline: Timeline, scene: Scene
) -> tuple[str, tuple[str, ...]]:
    """What to do, and what to type for it."""
    script = timeline.environment.get(_SCRIPT) or _UNKNOWN_SCRIPT
    if manner is Manner.TOO_BIG:
        limit = f' --limit "{format_bytes(facts.limit)}"' if facts.limit else ""
        return "Find the largest batch that fits", (f"lowwater footprint{limit} {script}",)
    if manner is Manner.FRAGMENTED:
        return _against_pieces(scene, script)
    if manner is Manner.LEAK:
        return "Fix the leak first; to find its cause by experiments", (
            f"lowwater diagnose {script}",
        )
    return "To see more rounds, shorten them or raise the limit", (f"lowwater run {script}",)


def _against_pieces(scene: Scene, script: str) -> tuple[str, tuple[str, ...]]:
    place = scene.request.place if scene.request is not None else gauges.HOST
    if scene.pool is not None and place != gauges.HOST:
        if "PyTorch" in scene.pool.name:
            setting = "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True"
        else:
            setting = "TF_GPU_ALLOCATOR=cuda_malloc_async"
        return "Let the driver join free pieces", (f"{setting} lowwater run {script}",)
    if scene.pool is not None:
        return "Allocate the largest tensors first, or ask for less in one piece", ()
    return "Return free memory to the system after each round", (
        "import psutil; psutil.heap_trim()",
    )
