"""The final screen: the verdict, why, who holds the memory, and what to type next."""

from typing import Final

from lowwater.model import Diagnosis
from lowwater.report.sparkline import BLOCKS

_ASCII_BLOCKS: Final = "_.-=+*%#"
_ASCII: Final = str.maketrans(
    {
        **dict(zip(BLOCKS, _ASCII_BLOCKS, strict=True)),
        "→": "->",
        "·": "|",
        "…": "...",
        "─": "-",
        "│": "|",
        "┬": "+",
        "├": "+",
        "└": "+",
        "╰": "+",
        "\N{MULTIPLICATION SIGN}": "x",
        "≥": ">=",
        "≤": "<=",
    }
)


def render(
    diagnosis: Diagnosis,
    *,
    width: int = 80,
    colour: bool = False,
    verbose: bool = False,
    why: bool = False,
) -> str:
    """The screen as text, each line at most `width` wide, commands excepted.

    It has what a reader needs to go on; with `verbose`, all that is known; with `why`, the
    questions behind each verdict.
    """
    # rich costs more to import than all else here, and a watched program may end without it.
    if diagnosis.experiments is not None and not why:
        from lowwater.report import experiments

        return experiments.render(diagnosis, width=width, colour=colour)
    from lowwater.report._screen import draw

    return draw(diagnosis, width=width, colour=colour, verbose=verbose, why=why)


def for_encoding(text: str, encoding: str) -> str:
    """The text as the target can take it: unchanged, or with plain characters in place."""
    try:
        text.encode(encoding)
    except LookupError:
        encoding = "ascii"
    except UnicodeEncodeError:
        pass
    else:
        return text
    return text.translate(_ASCII).encode(encoding, "replace").decode(encoding)
