"""Text from outside, made safe for a screen: it steers no terminal and stays on its line."""

from typing import Final

# A recording may come from anywhere, and a program may print anything: their strings must not
# steer the reader's terminal, nor break our lines, nor write from right to left over our words.
_CONTROL_CODES: Final = (
    *range(32),
    *range(127, 160),
    0x061C,
    *range(0x200E, 0x2010),  # marks of direction
    *range(0x2028, 0x202F),  # line separators, embeddings and overrides
    *range(0x2066, 0x206A),  # isolates
    *range(0xD800, 0xE000),  # surrogates: halves of characters, which no stream can take
)
_CONTROLS: Final = dict.fromkeys(_CONTROL_CODES, "?") | {ord("\n"): "\n", ord("\t"): " "}


def printable(text: str) -> str:
    """The same text without control characters other than line breaks."""
    return text if text.isprintable() else text.translate(_CONTROLS)


def one_line(text: str) -> str:
    """The same text, printable, on one line."""
    return " ".join(printable(text).split())
