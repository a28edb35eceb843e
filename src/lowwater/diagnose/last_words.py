"""What a program that failed has said at its end."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

# Enough for the longest traceback of Keras.
_LAST_BYTES: Final = 64 << 10
_LONGEST: Final = 120
_BEGINS = "Traceback (most recent call last)"
# Progress bars move the cursor and colour the terminal.
_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|[\x00-\x08\x0b-\x1f\x7f]")


def last_words(output: str) -> str:
    """The line that names the exception, or the last one that was written."""
    lines = tail(output)
    errors = [number for number, line in enumerate(lines) if line.startswith(_BEGINS)]
    behind = lines[errors[-1] + 1 :] if errors else []
    named = next((line for line in behind if line[:1].strip()), "")
    said = named or "".join(lines[-1:])
    return said if len(said) <= _LONGEST else f"{said[: _LONGEST - 1]}…"


def tail(output: str) -> Sequence[str]:
    """The last lines that a program has written, as a terminal would show them."""
    try:
        with Path(output).open("rb") as file:
            file.seek(max(0, Path(output).stat().st_size - _LAST_BYTES))
            text = file.read().decode("utf-8", "replace")
    except OSError:
        return ()
    shown = (line.rstrip("\r").rpartition("\r")[-1] for line in text.split("\n"))
    return [_CONTROL.sub("", line).rstrip() for line in shown if line.strip()]
