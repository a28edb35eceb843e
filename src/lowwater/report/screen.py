"""The one door to a terminal for text with colours: nothing else makes a rich console.

Strings of a recording or of the watched program are data: rich finds no markup, no emoji and no
highlights in them, and no control character of theirs comes out.
"""

from collections.abc import Iterable
from typing import IO, Any, Self

from rich.console import Console, ConsoleOptions, JustifyMethod, OverflowMethod, RenderableType
from rich.progress import TextColumn
from rich.segment import Segment
from rich.style import Style
from rich.text import Text

from lowwater.model.printable import printable


class Screen(Console):
    """A rich console that takes every string for what it is, and lets only its own colours out."""

    def __init__(self, **options: Any) -> None:  # noqa: ANN401 - rich's own options
        """A console with these options."""
        super().__init__(**{**options, "markup": False, "emoji": False, "highlight": False})

    @classmethod
    def drawing(cls, file: IO[str], width: int, *, colour: bool) -> Self:
        """A screen to be drawn on a file: the same text everywhere.

        What rich would find out about its surroundings is given here.
        """
        return cls(
            file=file,
            width=width,
            force_terminal=colour,
            no_color=not colour,
            color_system="standard" if colour else None,
            force_jupyter=False,
            legacy_windows=False,
            _environ={},
        )

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """All that is shown passes here, whoever has made it."""
        for segment in super().render(renderable, options):
            if segment.control or segment.text.isprintable():
                yield segment
            else:
                yield Segment(printable(segment.text), segment.style)

    def render_str(
        self,
        text: str,
        *,
        style: str | Style = "",
        justify: JustifyMethod | None = None,
        overflow: OverflowMethod | None = None,
        **_about_markup: object,
    ) -> Text:
        """A plain string, never parsed, and clean before it is measured."""
        return super().render_str(
            printable(text),
            style=style,
            justify=justify,
            overflow=overflow,
            emoji=False,
            markup=False,
            highlight=False,
        )


def column(text_format: str, style: str = "none") -> TextColumn:
    """A column of a progress bar, whose text is data too."""
    return TextColumn(text_format, style=style, markup=False)
