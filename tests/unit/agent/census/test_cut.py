"""A census that could not look at all accuses nobody wrongly, and names what it saw whole."""

from itertools import count

import pytest

from lowwater.agent.census.budget import Budget, Cut

MIB = 1 << 20

# `index` refers to what `data` holds: what `data` does not claim is its own.
INNOCENT = """
    data = [[bytearray(500)] for _ in range(3_000)]
    index = {number: one for number, one in enumerate(data)}
    others = [[bytearray(500)] for _ in range(3_000)]
    kept = []
    def round(): pass
    """

LEAKS = INNOCENT.replace("pass", "\n        kept.append(bytearray(100_000))")

# One object on each level: nothing tells how many there are before they are followed.
DEEP = """
    deep = [bytearray(100)]
    for _ in range(50_000):
        deep = [deep, bytearray(10)]
    kept = []
    def round():
        kept.append(bytearray(100_000))
    """

BUDGETS = {
    "all": lambda: Budget(clock=lambda: 0.0),
    "few objects": lambda: Budget(most_objects=2_000, clock=lambda: 0.0),
    "some objects": lambda: Budget(most_objects=5_000, clock=lambda: 0.0),
    "little memory": lambda: Budget(most_bytes=60_000, clock=lambda: 0.0),
    "some memory": lambda: Budget(most_bytes=500_000, clock=lambda: 0.0),
    "little time": lambda: Budget(clock=count().__next__, most_seconds=3),
    "some time": lambda: Budget(clock=count().__next__, most_seconds=12),
}


def seen_by(program, *budgets):
    for name in budgets:
        program.module.round()
        program.in_use_bytes += MIB
        seen = program.taker.take(
            program.in_use_bytes, lambda objects: None, lambda kind: False, BUDGETS[name]()
        )
        yield seen


def edges(seen):
    return [holder.steps[holder.container].edge for holder in seen.holders]


@pytest.mark.parametrize("later", BUDGETS)
@pytest.mark.parametrize("first", BUDGETS)
def test_innocent_program_that_is_cut_at_different_places_is_not_accused(a_program, first, later):
    program = a_program(INNOCENT)
    for seen in seen_by(program, first, later, first, later, later):
        assert edges(seen) == []


@pytest.mark.parametrize("budget", ["few objects", "some objects", "little memory"])
def test_leak_beside_what_is_left_out_is_named_at_its_line(a_program, budget):
    program = a_program(LEAKS)
    *_, seen = seen_by(program, budget, budget, budget)

    assert seen.cut in (Cut.NUMBER, Cut.MEMORY)
    [holder] = seen.holders
    assert holder.steps[holder.container].edge == ".kept"
    assert holder.counts == (1, 2, 3)
    assert [site.where for site in holder.sites] == ["train.py:6"]


@pytest.mark.parametrize("budget", ["few objects", "little time"])
def test_leak_beside_an_endless_chain_is_named_at_the_second_census(a_program, budget):
    program = a_program(DEEP)
    first, second = seen_by(program, budget, budget)

    assert first.found is not None, "it was taken again without the chain"
    assert first.found.starts_over
    assert edges(second) == [".kept"]


def test_census_with_less_room_starts_over(a_program):
    program = a_program(LEAKS)
    first, second, third = seen_by(program, "all", "few objects", "few objects")

    assert first.is_complete
    assert second.found.starts_over
    assert not third.found.starts_over
    [holder] = third.holders
    assert holder.counts == (2, 3)


def test_what_was_found_stands_when_room_gets_less(a_program):
    program = a_program(LEAKS)
    _, second, third, fourth = seen_by(program, "all", "all", "few objects", "all")

    assert edges(second) == [".kept"]
    assert third.found is None
    assert fourth.holders[0].counts == (1, 2, 4)
