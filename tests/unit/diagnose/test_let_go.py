"""Old items leave what a leak trace names, and nothing else does."""

import functools
import sys
from collections import deque
from types import ModuleType

import pytest

from lowwater.diagnose.let_go import LetGo
from lowwater.diagnose.paths import Hop, find


class Study:
    def __init__(self):
        self.trials = []


@pytest.fixture
def program():
    """A module that stands for the program."""
    module = ModuleType("the_program")
    sys.modules["the_program"] = module
    yield module
    del sys.modules["the_program"]


ROOT = Hop("", "module", "the_program")


class Runs:
    """Lets old items go, and remembers what was told of it."""

    def __init__(self, *path):
        self.cuts, self.failed = [], []
        self._let_go = LetGo([path], lambda *told: self.cuts.append(told), self.failed.append)

    def rounds(self, *acts):
        for act in acts:
            act()
            self._let_go.cut()


@pytest.mark.parametrize(
    ("container", "add"),
    [
        ([], lambda kept, i: kept.append(i)),
        (deque(), lambda kept, i: kept.append(i)),
        ({}, lambda kept, i: kept.__setitem__(i, i)),
        (set(), lambda kept, i: kept.add(i)),
        (bytearray(), lambda kept, i: kept.append(i)),
    ],
)
def test_container_of_any_kind_stays_short(program, container, add):
    program.kept = container
    runs = Runs(
        ROOT,
        Hop(
            ".kept",
            type(container).__qualname__ if type(container) is not deque else "collections.deque",
        ),
    )

    runs.rounds(*[functools.partial(add, container, i) for i in range(50)])

    assert len(container) <= 7
    assert runs.cuts
    assert runs.failed == []


def test_first_items_and_those_of_the_latest_round_stay(program):
    program.kept = kept = ["first"]
    runs = Runs(ROOT, Hop(".kept", "list"))

    runs.rounds(*[functools.partial(kept.extend, [(i, 0), (i, 1)]) for i in range(20)])

    assert kept[0] == "first"
    assert kept[-2:] == [(19, 0), (19, 1)]
    assert len(kept) < 10


def test_attribute_of_an_object_in_a_list_is_found_by_its_names(program):
    program.studies = [Study(), Study()]
    hops = (ROOT, Hop(".studies", "list"), Hop("[*]", f"{__name__}.Study"), Hop(".trials", "list"))

    assert [one.thing for one in find(hops)] == [one.trials for one in program.studies]


def test_variable_of_a_running_call_is_found(program):
    def train():
        kept = ["here"]
        program.found = find(
            (Hop("", "frame", f"{train.__qualname__}()"), Hop("local kept", "list"))
        )
        return kept

    kept = train()

    assert [one.thing for one in program.found] == [kept]


def test_closure_and_generator_and_default_are_found(program):
    def make():
        seen = []

        def remember(item, box=[]):  # noqa: B006
            seen.append(item)
            return box

        return remember, seen

    program.remember, seen = make()

    def batches():
        window = [1]
        yield window

    program.batches = batches()
    window = next(program.batches)

    closure = find((ROOT, Hop(".remember", "function"), Hop("closure seen", "list")))
    default = find((ROOT, Hop(".remember", "function"), Hop("default box", "list")))
    variable = find((ROOT, Hop(".batches", "generator"), Hop("local window", "list")))

    assert closure[0].thing is seen
    assert default[0].thing is program.remember.__defaults__[0]
    assert variable[0].thing is window


def test_memo_forgets_its_results(program):
    program.load = load = functools.cache(lambda number: [number])
    runs = Runs(ROOT, Hop(".load", "functools._lru_cache_wrapper"), Hop(".cache", "dict"))

    runs.rounds(*[functools.partial(load, i) for i in range(10)])

    assert load.cache_info().currsize == 0
    assert runs.cuts


def test_object_that_gets_ever_more_attributes_loses_the_old_ones(program):
    program.study = study = Study()
    runs = Runs(ROOT, Hop(".study", f"{__name__}.Study"))

    runs.rounds(*[functools.partial(setattr, study, f"trial_{i}", i) for i in range(30)])

    assert len(vars(study)) < 10
    assert study.trials == []
    assert study.trial_29 == 29


def test_vague_trace_is_followed_down_to_what_grows_and_that_is_named(program):
    program.study, inner = Study(), Study()
    program.study.best, program.study.settled = [inner], [1, 2, 3]
    # It ends at a list that does not grow.
    runs = Runs(ROOT, Hop(".study", f"{__name__}.Study"), Hop(".trials", "list"))

    runs.rounds(*[functools.partial(inner.trials.append, object()) for _ in range(30)])

    assert len(inner.trials) < 12
    assert {*runs.cuts} == {(0, "Study.trials")}
    assert program.study.settled == [1, 2, 3]


def test_container_that_does_not_grow_is_left_alone(program):
    program.kept = kept = [*range(20)]
    runs = Runs(ROOT, Hop(".kept", "list"))

    def replaced():
        kept.pop(0)
        kept.append(0)

    runs.rounds(*[replaced] * 10)

    assert len(kept) == 20
    assert runs.cuts == []


def test_name_that_leads_nowhere_cuts_nothing(program):
    program.kept = []
    runs = Runs(ROOT, Hop(".gone", "list"))

    runs.rounds(*[functools.partial(program.kept.append, i) for i in range(9)])

    assert len(program.kept) == 9
    assert (runs.cuts, runs.failed) == ([], [])


def test_what_cannot_be_shortened_is_told_with_its_type(program):
    program.log = ""
    runs = Runs(ROOT, Hop(".log", "str"))

    runs.rounds(*[lambda: setattr(program, "log", program.log + "x" * 100)] * 5)

    assert runs.failed[0] == "nothing can be removed from a str"
    assert runs.cuts == []
