"""What the child writes appears where the caller's own output does."""

import codecs
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_CHUNK = 64 * 1024


class Stream:
    """One of stdout and stderr: handed over as it is, or passed on from a pipe.

    Where the program has put something else in the place of the real stream (a notebook, a
    progress bar, a test), what the child writes is given to that.
    """

    def __init__(self, name: str) -> None:
        """Look at the stream as it is now."""
        self._stream: Any = getattr(sys, name)
        self.reading: int | None = None
        descriptor = _own_descriptor(self._stream, getattr(sys, f"__{name}__"))
        if descriptor is not None:
            self.writing = os.dup(descriptor)
            return
        self.reading, self.writing = os.pipe()
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def hand_over(self) -> None:
        """The child has its end now."""
        os.close(self.writing)
        self.writing = -1

    def pass_on(self) -> bool:
        """Show what has arrived; False when nothing more will come."""
        assert self.reading is not None
        data = os.read(self.reading, _CHUNK)
        text = self._decoder.decode(data, final=not data)
        if text and self._stream is not None:
            self._stream.write(text)
            if hasattr(self._stream, "flush"):  # Python itself asks for no more than `write`
                self._stream.flush()
        return bool(data)

    def close(self) -> None:
        """Safe to call twice."""
        for descriptor in (self.writing, self.reading):
            if descriptor is not None and descriptor >= 0:
                os.close(descriptor)
        self.writing, self.reading = -1, None


@contextmanager
def streams() -> Iterator[tuple[Stream, Stream]]:
    """Both, for one trial."""
    both = Stream("stdout"), Stream("stderr")
    try:
        yield both
    finally:
        for one in both:
            one.close()


def _own_descriptor(stream: Any, original: Any) -> int | None:  # noqa: ANN401
    if stream is None:
        return None
    try:
        stream.flush()
        return int(stream.fileno()) if stream is original else None
    except (OSError, ValueError, AttributeError):
        return None
