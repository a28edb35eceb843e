"""The exception that ends the script: what to tell of it, and whether memory ran out."""

from lowwater.model.out_of_memory import is_out_of_memory, line_of
from lowwater.recording.records import Failed


def failure(error: BaseException | None) -> Failed | None:
    """What to record of it; None where the script ended as it was meant to, or was asked to."""
    # What is no Exception asks for the end: `sys.exit()`, Ctrl-C.
    if not isinstance(error, Exception):
        return None
    return Failed(line_of(error), is_out_of_memory(error))
