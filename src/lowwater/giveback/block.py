"""The variables of a `with` block: bound by its own statements, and not read after it."""

import contextlib
import dis
import weakref
from collections.abc import Collection, Iterator
from types import CodeType, FrameType
from typing import Any

from lowwater.giveback.code_flow import is_function
from lowwater.giveback.frames import calling_frame, line_of
from lowwater.giveback.hollow import is_shell
from lowwater.giveback.unread import read_from_here, variables_in

# Which names a module or a notebook had when a block of its code was first entered.
_bound_at_first: weakref.WeakKeyDictionary[CodeType, dict[int, frozenset[str]]] = (
    weakref.WeakKeyDictionary()
)


# Where blocks of a code begin and end, as far as they were passed.
_ended: weakref.WeakKeyDictionary[CodeType, dict[int, int]] = weakref.WeakKeyDictionary()
# What variables of a block held at its end. A notebook may run the same cell again.
_left_behind: dict[int, weakref.ref[Any]] = {}


class Block:
    """One run through a `with` block, from the side of the frame that it stands in."""

    def __init__(self) -> None:
        """Note where the block begins; the frame itself is not kept."""
        frame = calling_frame()
        self._code: CodeType | None = frame.f_code if frame else None
        self._begin = frame.f_lasti if frame else -1
        self._frame_id = id(frame)
        self.where = line_of(frame) if frame else "an unknown line"
        # What the block has bound and the program may read after it, and where.
        self.read_later: dict[str, str] = {}
        self._asked_at: tuple[int, set[str]] | None = None
        if frame is not None and not is_function(frame.f_code):
            sites = _bound_at_first.setdefault(frame.f_code, {})
            sites.setdefault(self._begin, frozenset(_names_from_before(frame)))

    def is_in(self, frames: Collection[int]) -> bool:
        """Whether its frame is among these."""
        return self._frame_id in frames

    def variables(self) -> tuple[dict[str, Any], tuple[str, ...]]:
        """The block's own variables at its end, and which of them inner functions share.

        What the program reads after the block is not its own.
        """
        frame = calling_frame()
        if frame is None or id(frame) != self._frame_id or frame.f_code is not self._code:
            return {}, ()
        names = self._own(frame)
        bound = {name: value for name, value in variables_in(frame).items() if name in names}
        for value in bound.values():
            _leave_behind(value)
        return bound, frame.f_code.co_cellvars

    def reasons(self) -> dict[tuple[str, int], str]:
        """Why variables were spared, by name and identity: `read later, train.py:40`."""
        frame = calling_frame()
        variables = variables_in(frame) if frame is not None and self.read_later else {}
        return {
            (name, id(variables[name])): why
            for name, why in self.read_later.items()
            if name in variables
        }

    def end(self) -> None:
        """Note where the block has ended as it should: at its last line, not by an exception."""
        frame = calling_frame()
        if frame is not None and frame.f_code is self._code:
            _ended.setdefault(frame.f_code, {})[self._begin] = frame.f_lasti

    def _own(self, frame: FrameType) -> set[str]:
        """The names that end with the block: what is read after it lives on."""
        if self._asked_at is None or self._asked_at[0] != frame.f_lasti:
            names = self._names(frame)
            self.read_later = read_from_here(frame, names)
            self._asked_at = (frame.f_lasti, names - self.read_later.keys())
        return self._asked_at[1]

    def _names(self, frame: FrameType) -> set[str]:
        """What is bound inside the block and not before it: `best = None` above it is."""
        inside: set[str] = set()
        before: set[str] = set(_parameters(frame.f_code))
        for instruction in dis.get_instructions(frame.f_code):
            if not instruction.opname.startswith("STORE_"):
                continue
            if self._begin < instruction.offset < frame.f_lasti:
                inside.update(_stored(instruction))
            elif instruction.offset < self._begin and not _is_in_a_block(instruction, frame.f_code):
                before.update(_stored(instruction))
        known = _bound_at_first.get(frame.f_code, {}).get(self._begin, frozenset())
        # Bound anew in every round: what the first round found bound is from before the loop.
        return inside - before - known


def _is_in_a_block(instruction: dis.Instruction, code: CodeType) -> bool:
    """Whether an earlier block binds the name: two blocks may call their models the same."""
    ended = _ended.get(code, {})
    return any(begin < instruction.offset < end for begin, end in ended.items())


def _names_from_before(frame: FrameType) -> Iterator[str]:
    """What a module has bound, apart from what an earlier block has left there."""
    for name, value in [*frame.f_locals.items()]:
        known = _left_behind.get(id(value))
        if not is_shell(value) and (known is None or known() is not value):
            yield name


def _leave_behind(value: Any) -> None:  # noqa: ANN401
    identity = id(value)
    with contextlib.suppress(TypeError):  # a number, a list: it holds no model by itself
        _left_behind[identity] = weakref.ref(value, lambda _: _left_behind.pop(identity, None))


def _stored(instruction: dis.Instruction) -> tuple[str, ...]:
    value = instruction.argval
    if isinstance(value, tuple):  # one instruction stores two, from Python 3.13 on
        return tuple(part for part in value if isinstance(part, str))
    return (value,) if isinstance(value, str) else ()


def _parameters(code: CodeType) -> tuple[str, ...]:
    count = code.co_argcount + code.co_kwonlyargcount
    return code.co_varnames[: count + bool(code.co_flags & 4) + bool(code.co_flags & 8)]
