"""The live line: one line at the bottom of the terminal while the watched program prints above."""

import contextlib
import os
from collections.abc import Callable
from types import TracebackType
from typing import Final, Self, TextIO

from lowwater.model.printable import one_line
from lowwater.model.units import format_bytes, format_growth
from lowwater.report.text import for_encoding

_FEWEST_ROWS: Final = 5

# DECSC and DECRC keep the watched program's cursor, colours and pending wrap for it.
_SAVE: Final = "\x1b7"
_RESTORE: Final = "\x1b8"
_PLAIN: Final = "\x1b[0m"
_DIM: Final = "\x1b[2m"
_CLEAR_LINE: Final = "\x1b[2K"
_CLEAR_BELOW: Final = "\x1b[J"
_WHOLE_SCREEN: Final = "\x1b[r"
# Down and up again: scrolls by one where the cursor is on the last row, and keeps its column.
_LEAVE_LAST_ROW: Final = "\x1bD\x1b[A"


def live_text(
    unit_name: str, ordinal: int, in_use_bytes: int | None, growth_bytes: int | None, width: int
) -> str:
    """`lowwater · epoch 12 · in use 231.4 MiB · +4.0 MiB per epoch`, cut to `width`."""
    from rich.cells import cell_len, set_cell_size

    name = one_line(unit_name)
    used = "not measured" if in_use_bytes is None else format_bytes(in_use_bytes)
    parts = ["lowwater", f"{name} {ordinal:,}", f"in use {used}"]
    if growth_bytes is not None:
        parts.append(f"{format_growth(growth_bytes)} per {name}")
    line = " · ".join(parts)
    if cell_len(line) <= width:
        return line
    # Our own name says least: it goes first.
    line = " · ".join(parts[1:])
    return line if cell_len(line) <= width else set_cell_size(line, max(0, width)).rstrip()


class LiveLine:
    """Keeps the last row of a terminal for one line, as apt does, while others print above it.

    The row is taken at the first update and given back at exit.
    Each update is one short write, so that the program's own output cannot come between.
    """

    def __init__(
        self,
        stream: TextIO,
        *,
        size: Callable[[], os.terminal_size] | None = None,
        term: str | None = None,
    ) -> None:
        """Draw on `stream`; it stays untouched where it is no terminal or a dumb one."""
        term = os.environ.get("TERM", "") if term is None else term
        self._stream = stream
        self._size = size or (lambda: os.get_terminal_size(stream.fileno()))
        self._is_quiet = term in ("", "dumb") or not stream.isatty()
        self._taken: os.terminal_size | None = None

    def __enter__(self) -> Self:
        """Begin; nothing is drawn yet."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Give the terminal back as it was."""
        self._give_back()

    @property
    def width(self) -> int:
        """Columns that a line may have now; 0 where none will be shown."""
        size = self._usable_size()
        # The last column stays free: some terminals wrap as soon as it is written.
        return size.columns - 1 if size else 0

    def update(self, text: str) -> None:
        """Show this text in place of the last; it should fit in `width`."""
        size = self._usable_size()
        if size is None:
            self._give_back()
            return
        take = "" if size == self._taken else self._taking()
        self._taken = size
        # The program may have reset the region, so it is set anew each time.
        region = f"\x1b[1;{size.lines - 1}r"
        line = f"\x1b[{size.lines};1H{_PLAIN}{_CLEAR_LINE}{_DIM}{one_line(text)}"
        self._write(f"{take}{_SAVE}{region}{line}{_RESTORE}")

    def _taking(self) -> str:
        if self._taken is None:
            return _LEAVE_LAST_ROW
        # After a resize nobody knows where the old line went, but it is below the cursor.
        return f"{_SAVE}{_WHOLE_SCREEN}{_RESTORE}{_CLEAR_BELOW}{_LEAVE_LAST_ROW}"

    def _give_back(self) -> None:
        if self._taken is None:
            return
        size, self._taken = self._taken, None
        is_moved = self._current_size() != size
        clear = _CLEAR_BELOW if is_moved else ""
        last_row = "" if is_moved else f"\x1b[{size.lines};1H{_PLAIN}{_CLEAR_LINE}"
        self._write(f"{_SAVE}{_WHOLE_SCREEN}{last_row}{_RESTORE}{clear}")

    def _usable_size(self) -> os.terminal_size | None:
        size = None if self._is_quiet else self._current_size()
        return size if size and size.lines >= _FEWEST_ROWS and size.columns > 1 else None

    def _current_size(self) -> os.terminal_size | None:
        # A closed stream is a ValueError, a terminal that went away an OSError.
        with contextlib.suppress(OSError, ValueError):
            return self._size()
        return None

    def _write(self, text: str) -> None:
        """Write at once; a terminal that fails is left alone from then on."""
        try:
            self._stream.write(for_encoding(text, self._stream.encoding or "utf-8"))
            self._stream.flush()
        except (OSError, ValueError):
            self._is_quiet, self._taken = True, None
