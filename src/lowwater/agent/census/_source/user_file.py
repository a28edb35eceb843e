"""One file of the user's program: its text when it was loaded, and the index made from it."""

import ast
import contextlib
import io
import tokenize
import warnings
from dataclasses import dataclass, field

from lowwater.agent.census._source.additions import Index, Span, Spot
from lowwater.agent.census._source.bindings import attribute_lines, variable_lines
from lowwater.agent.census._source.reader import read_additions
from lowwater.agent.census._source.setters import Setter, setters
from lowwater.agent.census._source.unpacking import arguments_of
from lowwater.model import GrowthSite
from lowwater.model.interruption import let_through, quietly

# A program this long was generated, and would take seconds to read.
_LONGEST_BYTES = 4_000_000
_WIDEST = 80


@dataclass(slots=True)
class UserFile:
    """A file of the user's program; it is parsed when first asked about."""

    filename: str
    source: bytes
    shown: str
    _index: Index | None = field(default=None, init=False, repr=False)
    _tree: ast.Module | None = field(default=None, init=False, repr=False)

    @property
    def index(self) -> Index:
        """What the file adds to what; empty where the text cannot be read."""
        if self._index is None:
            self._index = self._read()
        return self._index

    def _read(self) -> Index:
        if len(self.source) > _LONGEST_BYTES:
            return Index()
        try:
            return read_additions(_parsed(_decoded(self.source)), self.filename)
        except Exception as error:  # noqa: BLE001 - whatever a file holds, the user's program goes on
            let_through(error)
            return Index()

    def mentions(self, name: str) -> bool:
        """Whether a name stands anywhere in the text: cheaper to ask than to parse."""
        is_read = self._index is not None
        return is_read or not name.isascii() or name.encode() in self.source

    def where(self, spot: Spot) -> str:
        """The line as it is written in a report."""
        return f"{self.shown}:{spot.span.line}"

    def code(self, spot: Spot) -> str:
        """The statement, or the part of it that adds where all of it would be too much."""
        whole = self._text(spot.statement) if spot.statement else ""
        code = whole if 0 < len(whole) <= _WIDEST else self._text(spot.span)
        return code if len(code) <= _WIDEST else code[: _WIDEST - 1].rstrip() + "…"

    def line(self, number: int) -> str:
        """One line of the text; empty where it cannot be read."""
        with quietly():
            return _decoded(self.source).splitlines()[number - 1].strip()
        return ""

    def calls_of(self, name: str) -> list[str]:
        """The lines that call what has this name, be it a variable or an attribute."""
        calls = self._calls(name)
        return [f"{self.shown}:{call.lineno}" for call in calls if _name(call.func) == name]

    def calls_with(self, name: str) -> list[GrowthSite]:
        """The lines that hand over what has this name: `register(self.name)`."""
        calls = self._calls(name)
        return [
            self.site(call)
            for call in calls
            if any(_name(given) == name for _, given in arguments_of(call))
        ]

    def _calls(self, name: str) -> list[ast.Call]:
        if name.encode() not in self.source or len(self.source) > _LONGEST_BYTES:
            return []
        with quietly():
            nodes = ast.walk(_parsed(_decoded(self.source)))
            return [node for node in nodes if isinstance(node, ast.Call)]
        return []

    def setters(self) -> list[Setter]:
        """The lines that make up names of attributes or of variables."""
        names = (b"setattr", b"__dict__", b"vars", b"globals")
        if not any(name in self.source for name in names) or len(self.source) > _LONGEST_BYTES:
            return []
        with quietly():
            return [*setters(_parsed(_decoded(self.source)))]
        return []

    def bound_at(self, owner: str, name: str, kind: str) -> int | None:
        """The last line that gives a name its value, other than a constant if there is one."""
        if len(self.source) > _LONGEST_BYTES:
            return None
        lines = attribute_lines if kind == "attribute" else variable_lines
        with quietly():
            self._tree = self._tree or _parsed(_decoded(self.source))
            found = lines(self._tree, owner, name)
            return found[-1] if found else None
        return None

    def site(self, node: ast.expr | ast.stmt) -> GrowthSite:
        """A line as a report shows it."""
        code = _in_one_line(ast.unparse(node))
        return GrowthSite(f"{self.shown}:{node.lineno}", code[:_WIDEST])

    def _text(self, span: Span) -> str:
        text = _decoded(self.source).replace("\r\n", "\n").replace("\r", "\n")
        lines = [line.encode() for line in text.split("\n")[span.line - 1 : span.end_line]]
        lines[-1] = lines[-1][: span.end_column]
        lines[0] = lines[0][span.column :]
        return _in_one_line(b"\n".join(lines).decode())


def _decoded(source: bytes) -> str:
    encoding, _ = tokenize.detect_encoding(io.BytesIO(source).readline)
    return source.decode(encoding)


def _parsed(text: str) -> ast.Module:
    with warnings.catch_warnings():
        # What Python has to say about the text, it has said when the program was loaded.
        warnings.simplefilter("ignore")
        return ast.parse(text)


def _name(expression: ast.expr) -> str | None:
    match expression:
        case ast.Name(name) | ast.Attribute(attr=name):
            return name
    return None


def _in_one_line(code: str) -> str:
    """Without line ends, as Python itself would write it: comments between the lines go."""
    if "\n" in code:
        # What goes over lines only inside brackets that are not part of it stays as it is.
        with contextlib.suppress(SyntaxError, RecursionError):
            code = ast.unparse(_parsed(code))
    return " ".join(code.split())
