"""The gradient registry as `release()` and `mend()` both see it: names and weak entries."""

import re
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

NAME = re.compile(r"CustomGradient-\d+")
# The keys of an entry, as TensorFlow's `Registry` writes them.
FUNCTION, LOCATION = "type", "location"
# The gradients of graphs that were exported while mended. Remembered over `undo()`: what was
# exported once may always come back.
EXPORTED: set[str] = set()


class WeakEntry(dict[str, Any]):
    """An entry of the registry that does not keep its function alive."""

    __slots__ = ("function", "made_by")

    def __init__(
        self,
        entry: dict[str, Any],
        when_gone: Callable[[Any], object] | None = None,
        made_by: object = None,
    ) -> None:
        """Refer to the function weakly; where it was registered is only text."""
        super().__init__({key: value for key, value in entry.items() if key != FUNCTION})
        self.made_by = made_by
        self.function = weakref.ref(entry[FUNCTION], when_gone)

    def __missing__(self, key: str) -> Any:  # noqa: ANN401 - a function, of any signature
        function = self.function() if key == FUNCTION else None
        if function is None:
            # Not a `None`: to TensorFlow that would mean a gradient of zero.
            raise LookupError(key)
        return function

    def as_entry(self) -> dict[str, Any] | None:
        """The entry as it was, if its function lives."""
        function = self.function()
        return None if function is None else {FUNCTION: function, **self}


class _Looking(threading.local):
    is_on = False


_looking = _Looking()


@contextmanager
def only_looking() -> Iterator[None]:
    """Graphs that this thread writes down in the block are looked at, and never read again."""
    was_on, _looking.is_on = _looking.is_on, True
    try:
        yield
    finally:
        _looking.is_on = was_on


def is_only_looking() -> bool:
    """Whether this thread is in such a block."""
    return _looking.is_on
