"""Whether a step failed because memory ran out."""

from lowwater.agent.instrumentation.uncaught import failure


def is_out_of_memory(error: BaseException) -> bool:
    """By its class, or by that of what caused it; no framework is imported for it."""
    told = failure(error)
    return isinstance(error, MemoryError) or bool(told and told.out_of_memory)
