"""The instructions of a code object, which may follow which, and what they do to variables."""

import dis
from bisect import bisect_right
from collections import deque
from collections.abc import Collection, Iterator
from functools import cached_property
from itertools import pairwise
from types import CodeType
from typing import Any

from lowwater.giveback.frames import shown

_HAS_FAST_LOCALS = 0x1
_END = frozenset(("RETURN_VALUE", "RETURN_CONST", "RAISE_VARARGS", "RERAISE"))
_ALWAYS_JUMPS = frozenset(("JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT"))
_LOAD, _VERBS = "LOAD", frozenset(("LOAD", "STORE", "DELETE"))
_OF_FUNCTION = ("_FAST", "DEREF", "CLOSURE")
_OF_MODULE = ("_NAME", "_GLOBAL")
# A comprehension that is part of the function, from Python 3.12 on, puts a variable of the same
# name aside, and back at its end.
_ASIDE = "LOAD_FAST_AND_CLEAR"
# Who calls one of these may read any variable, by a name that stands nowhere.
READS_ALL = frozenset(("exec", "eval", "locals", "globals", "vars", "breakpoint"))
_ATTRIBUTE = frozenset(("LOAD_ATTR", "LOAD_METHOD"))


def is_function(code: CodeType) -> bool:
    """Whether its variables are in the frame, not in a dictionary."""
    return bool(code.co_flags & _HAS_FAST_LOCALS)


class CodeFlow:
    """One code object, from the side of its variables."""

    def __init__(self, code: CodeType) -> None:
        """Nothing is read before it is asked for."""
        self._code = code

    def reads_after(self, offset: int, names: Collection[str]) -> dict[str, str]:
        """The names that may be loaded after this place before they are bound anew, and where.

        Breadth first, so that the nearest line is told.
        """
        # Where a call runs, the frame points behind its instruction, into what it has cached.
        begin = max(one for one in self._at if one <= max(0, offset))
        found: dict[str, str] = {}
        passed: dict[int, set[str]] = {}
        first = [*self._after(begin), *self._handlers(begin)]
        waiting = deque((one, frozenset(names)) for one in first)
        while waiting:
            place, live = waiting.popleft()
            live = live - passed.get(place, set()) - found.keys()
            if not live:
                continue
            passed.setdefault(place, set()).update(live)
            read, changed = self._done_to(live, place)
            found |= dict.fromkeys(read, f"read later, {self.line_of(place)}")
            # What raises has not stored yet.
            waiting += [(one, live) for one in self._handlers(place)]
            waiting += [(one, live - changed) for one in self._after(place)]
        return found

    def reads_of_module(self, names: Collection[str]) -> dict[str, str]:
        """The names that this function or class body takes from its module, in any order."""
        found: dict[str, str] = {}
        for place, one in self._at.items():
            if _is_of(one, _OF_MODULE) and one.opname.startswith(_LOAD):
                read = {*names} if _reads_all(one) else {one.argval} & {*names}
                told = f"read by `{self._code.co_name}()`, {self.line_of(place)}"
                found |= {name: told for name in read if name not in found}
        return found

    def reads_attribute(self, name: str) -> bool:
        """Whether it asks any object for this attribute."""
        asked = (one.argval for one in self._at.values() if one.opname in _ATTRIBUTE)
        return name in asked

    def only_asks(self, name: str) -> bool:
        """Whether each time that it loads this variable it asks it for an attribute at once."""
        loads = (
            (place, one)
            for place, one in self._at.items()
            if _is_of(one, _OF_FUNCTION + _OF_MODULE)
            and _LOAD in one.opname
            and name in _names_of(one)
        )
        return all(
            one.argval == name and self._at[self._next[place]].opname in _ATTRIBUTE
            for place, one in loads
        )

    def line_of(self, offset: int) -> str:
        """Where an instruction stands, as `train.py:40`."""
        position = self._at[offset].positions
        line = position.lineno if position else None
        return f"{shown(self._code.co_filename)}:{line or self._code.co_firstlineno}"

    def _done_to(self, live: frozenset[str], offset: int) -> tuple[set[str], set[str]]:
        """Which of the variables are read here, and which are bound anew or deleted."""
        instruction = self._at[offset]
        if _reads_all(instruction):
            return {*live}, set()
        read: set[str] = set()
        changed: set[str] = set()
        for verb, name in self._actions(instruction):
            if verb == _LOAD and name in live - changed:
                read.add(name)
            elif verb != _LOAD:
                changed.add(name)
        return read, changed

    def _actions(self, instruction: dis.Instruction) -> Iterator[tuple[str, str]]:
        """What it does in order: from Python 3.13 on one instruction may do two things."""
        if not _is_of(instruction, _OF_FUNCTION if is_function(self._code) else _OF_MODULE):
            return
        value = instruction.argval
        names = value if isinstance(value, tuple) else (value,)
        verbs = [part for part in instruction.opname.split("_") if part in _VERBS]
        for number, (verb, name) in enumerate(zip(verbs, names, strict=False)):
            if not self._is_of_comprehension(instruction, name, is_first=number == 0):
                yield verb, name

    def _is_of_comprehension(
        self, instruction: dis.Instruction, name: str, *, is_first: bool
    ) -> bool:
        """Whether this concerns the comprehension's own variable, which only has the same name."""
        span = _span(instruction)
        for begin, outer in self._aside.get(name, ()):
            # What it goes through is made before the variable is put aside.
            if outer is None or span is None or instruction.offset < begin:
                continue
            if span == outer:
                # Put aside, or put back; what is loaded in the same go is the function's again.
                return is_first
            if outer[:2] <= span[:2] and span[2:] <= outer[2:]:
                return True
        return False

    @cached_property
    def _at(self) -> dict[int, dis.Instruction]:
        return {one.offset: one for one in dis.get_instructions(self._code)}

    @cached_property
    def _next(self) -> dict[int, int]:
        return dict(pairwise(self._at))

    @cached_property
    def _guarded(self) -> list[tuple[int, int, int]]:
        """From where to where an exception goes to which place; they do not overlap."""
        entries = dis.Bytecode(self._code).exception_entries  # type: ignore[attr-defined]
        return sorted((one.start, one.end, one.target) for one in entries)

    @cached_property
    def _aside(self) -> dict[str, list[tuple[int, tuple[int, ...] | None]]]:
        found: dict[str, list[tuple[int, tuple[int, ...] | None]]] = {}
        for one in self._at.values():
            if one.opname == _ASIDE:
                found.setdefault(one.argval, []).append((one.offset, _span(one)))
        return found

    def _after(self, offset: int) -> Iterator[int]:
        instruction = self._at[offset]
        if instruction.opcode in dis.hasjrel or instruction.opcode in dis.hasjabs:
            yield instruction.argval
        name = instruction.opname
        if name not in _END and name not in _ALWAYS_JUMPS and offset in self._next:
            yield self._next[offset]

    def _handlers(self, offset: int) -> list[int]:
        number = bisect_right(self._guarded, (offset, self._beyond, 0)) - 1
        if number < 0:
            return []
        _, end, target = self._guarded[number]
        return [target] if offset < end else []

    @cached_property
    def _beyond(self) -> int:
        return len(self._code.co_code) + 1


def _names_of(instruction: dis.Instruction) -> tuple[Any, ...]:
    """The variables that it concerns: from Python 3.13 on, one or two."""
    value = instruction.argval
    return value if isinstance(value, tuple) else (value,)


def _is_of(instruction: dis.Instruction, parts: tuple[str, ...]) -> bool:
    name = instruction.opname
    return name.partition("_")[0] in _VERBS and any(part in name for part in parts)


def _reads_all(instruction: dis.Instruction) -> bool:
    is_load = instruction.opname.startswith(_LOAD) and _is_of(instruction, _OF_MODULE)
    return is_load and instruction.argval in READS_ALL


def _span(instruction: dis.Instruction) -> tuple[int, ...] | None:
    """From which line and column to which; None where Python was told to forget them."""
    at = instruction.positions
    if at is None:
        return None
    ends = (at.lineno, at.col_offset, at.end_lineno, at.end_col_offset)
    return None if None in ends else tuple(one or 0 for one in ends)
