"""A program of one file, and a census taker that knows it.

The libraries and the frames of the test run itself are left out of it: a hundred times as many
objects, which say nothing. Tests that are about them ask for `a_program_among_all`.
"""

import contextlib
import sys
import textwrap
import types
from dataclasses import replace
from itertools import count

import pytest

from lowwater.agent.census import look as look_module
from lowwater.agent.census.budget import Budget
from lowwater.agent.census.census import CensusTaker
from lowwater.agent.census.growth_site import Sources

MIB = 1 << 20
_numbers = count()


class Program:
    """A module of the user's, with its text as it was loaded; `rounds` calls its `round()`."""

    def __init__(self, text, name):
        self.name = name
        self.filename = f"/home/me/{name}.py"
        self.sources = Sources()
        self.taker = CensusTaker(self.sources)
        self.text = textwrap.dedent(text).lstrip("\n")
        self.sources.add(self.filename, self.text.encode(), "train.py")
        self.module = types.ModuleType(name)
        self.module.__file__ = self.filename
        sys.modules[name] = self.module
        exec(compile(self.text, self.filename, "exec"), self.module.__dict__)
        self.in_use_bytes = 0

    def census(self, grown=MIB):
        """One more census; the program is said to have grown by so much since the last."""
        self.in_use_bytes += grown
        # However long it takes: a machine may be busy.
        budget = Budget(clock=lambda: 0.0)
        seen = self.taker.take(self.in_use_bytes, lambda objects: None, lambda kind: False, budget)
        assert seen.is_complete, "something was left out of the walk"
        return seen

    def holders(self, censuses=3, rounds=3):
        """What holds the growth of a program with this many rounds between two censuses."""
        for _ in range(censuses):
            for _ in range(rounds):
                self.module.round()
            seen = self.census(rounds * MIB)
        return [holder for holder in seen.holders if holder.is_users]

    def holder(self, **options):
        [holder] = self.holders(**options)
        return holder

    def shown(self, **options):
        """The way to what grows, as a reader would see it."""
        return [self.line(step) for step in self.holder(**options).steps]

    def line(self, step):
        kind = step.type.replace(f"{self.name}.", "")
        parts = (step.edge, kind, step.about.replace(self.name, "train"), step.where or "")
        return " ".join(part for part in parts if part)


@pytest.fixture
def a_program_among_all():
    made = []

    def make(text):
        made.append(Program(text, f"a_program_{next(_numbers)}"))
        return made[-1]

    yield make
    for program in made:
        with contextlib.suppress(KeyError):
            del sys.modules[program.name]
        program.module.__dict__.clear()


@pytest.fixture
def a_program(a_program_among_all, monkeypatch):
    find_modules, find_frames = look_module.modules_now, look_module.frames_now

    def modules_now(*arguments):
        return replace(find_modules(*arguments), libraries=())

    def frames_now(is_ours):
        return [one for one in find_frames(is_ours) if one.f_code.co_filename.startswith("/home/")]

    monkeypatch.setattr(look_module, "modules_now", modules_now)
    monkeypatch.setattr(look_module, "frames_now", frames_now)
    return a_program_among_all
