"""Objects that are reached in the same way share a node, and what they hold is added up once."""

import sys
import tracemalloc
from itertools import count
from types import FunctionType

import numpy as np
import pytest

from lowwater.agent.census.budget import Budget, Cut
from lowwater.agent.census.estimate import expected
from lowwater.agent.census.kinds import module_of
from lowwater.agent.census.nodes import Node
from lowwater.agent.census.references import References
from lowwater.agent.census.sizes import Sizes
from lowwater.agent.census.walk import Walk

HERE = __name__


def is_from_here(thing):
    """As in a census: of functions and classes, and a class is not asked itself."""
    return (thing.__module__ if type(thing) is FunctionType else module_of(thing)) == HERE


def a_walk(*, wanted=lambda kind: False, is_ours=lambda kind: False, budget=None, left_out=()):
    references = References(is_from_here)
    budget = budget or Budget(clock=lambda: 0.0)
    return Walk(Sizes(), references, is_ours, _is_users_class, wanted, budget, {*left_out})


def _is_users_class(kind):
    return type.__dict__["__dict__"].__get__(kind).get("__module__") == HERE


def walked(walk=None, /, **things):
    """The root of a walk from these things, by name."""
    walk = walk or a_walk()
    root = Node("train", type(sys), is_users=True)
    for name, thing in things.items():
        walk.enter(root, f".{name}", thing)
    walk.run()
    root.sum_up()
    return root


def tree(node, depth=9):
    """The paths below a node, each with the number of objects on it."""
    below = {}
    for child in node.own_children():
        name = f"{child.label} {child.kind.__name__}".strip()
        below[name] = (child.count, tree(child, depth - 1)) if depth else child.count
    return below


class Trainer:
    def __init__(self, **attributes):
        vars(self).update(attributes)


class Pair:
    __slots__ = ("first", "second")

    def __init__(self, first, second):
        self.first, self.second = first, second


def test_objects_on_the_same_path_share_a_node():
    rows = [([b"a"], [b"b"]) for _ in range(3)]

    assert tree(walked(kept=[*rows])) == {
        ".kept list": (1, {"tuple": (3, {"list": (6, {"bytes": (2, {})})})})
    }


def test_attributes_and_few_keys_of_the_program_are_paths_of_their_own():
    trainer = Trainer(images=[bytearray(1)], audio=[bytearray(2)], logs={"loss": [], "rate": []})

    assert tree(walked(trainer=trainer)) == {
        ".trainer Trainer": (
            1,
            {
                ".images list": (1, {"bytearray": (1, {})}),
                ".audio list": (1, {"bytearray": (1, {})}),
                ".logs dict": (1, {"['loss'] list": (1, {}), "['rate'] list": (1, {})}),
                "type": (1, walked_class(Trainer)),
            },
        )
    }


def walked_class(kind):
    [below] = tree(walked(x=Trainer())).values()
    return below[1]["type"][1]


def test_object_belongs_to_the_first_path_that_reaches_it():
    shared = bytearray(1000)
    root = walked(first=[shared], second=[shared])

    assert tree(root) == {
        ".first list": (1, {"bytearray": (1, {})}),
        ".second list": (1, {}),
    }


def test_bytes_are_added_up_to_the_root():
    kept = [bytearray(10_000), np.zeros(10_000), ["x" * 10_000]]
    root = walked(kept=kept)

    expected = 80_000 + sum(map(sys.getsizeof, (kept, *kept[::2], kept[2][0])))
    assert root.bytes_below == pytest.approx(expected, abs=500)
    assert root.own_bytes == 0


def test_buffer_that_two_views_share_counts_once():
    owner = np.zeros(100_000)
    root = walked(kept=[owner[1:], owner[2:], owner])

    assert root.bytes_below == pytest.approx(owner.nbytes, abs=1000)


def test_cycles_end():
    kept = []
    kept.append(kept)
    trainer = Trainer()
    trainer.itself = trainer
    trainer.pair = Pair(trainer, kept)
    root = walked(kept=kept, trainer=trainer)

    assert root.children[".kept", list].count == 1
    assert root.children[".trainer", Trainer].count == 1


class Link:
    def __init__(self, following):
        self.following = following


def chain_of(make, length=100_000):
    last = None
    for _ in range(length):
        last = make(last)
    return last


CHAINS = {
    "objects": Link,
    "slots": lambda following: Pair(following, 1),
    "dicts": lambda following: {"following": following},
    "tuples": lambda following: (following, 1),
    "lists and dicts": lambda following: [{1: following}],
    "three kinds": lambda following: [{1: (Link(following),)}],
    "closures": lambda following: lambda: following,
}


@pytest.mark.parametrize("make", CHAINS.values(), ids=CHAINS)
def test_long_chain_is_walked_to_its_end_on_few_nodes(make):
    head = chain_of(make, 20_000)
    walk = a_walk()
    root = walked(walk, head=head)

    assert walk.is_complete
    assert len(walk.seen) >= 20_000
    assert len(root.all_below()) < 200
    root.forget()
    assert root.children == {}


class Tree:
    def __init__(self, depth):
        self.left = Tree(depth - 1) if depth else None
        self.right = Tree(depth - 1) if depth else None


def test_tree_of_many_objects_has_a_bounded_number_of_nodes():
    root = walked(tree=Tree(14))

    assert len(root.all_below()) < 10_000
    assert sum(node.count for node in root.all_below() if node.kind is Tree) == 2**15 - 1


def test_trie_of_small_dicts_has_a_bounded_number_of_nodes():
    def trie(depth):
        return {letter: trie(depth - 1) for letter in "abcd"} if depth else {}

    root = walked(trie=trie(7))

    assert len(root.all_below()) < 10_000
    assert sum(node.count for node in root.all_below() if node.kind is dict) == (4**8 - 1) // 3


def test_many_instances_are_data_and_their_attributes_not_told_apart():
    root = walked(kept=[Trainer(images=[], audio=[]) for _ in range(100)])
    instances = root.children[".kept", list].children["", Trainer]

    assert instances.children["", list].count == 200


def test_only_some_objects_of_a_node_are_remembered():
    node = walked(kept=[[] for _ in range(1000)]).children[".kept", list].children["", list]

    assert node.count == 1000
    assert 1 <= len(node.objects) <= 64


def test_length_of_containers_is_added_up():
    node = walked(kept=[{1: 2}, {3: 4, 5: 6}]).children[".kept", list]

    assert node.fan_out == 2
    assert node.children["", dict].fan_out == 3


def test_numbers_are_counted_but_not_told_apart():
    walk = a_walk()
    kept = [number / 7 for number in range(100_000)]
    root = walked(walk, kept=kept, same=[0.5] * 100_000)

    numbers = root.children[".kept", list].children["", float]
    assert numbers.count == pytest.approx(100_000, rel=0.01)
    assert numbers.own_bytes == numbers.count * 32
    assert root.children[".same", list].children["", float].count == 1
    assert len(walk.seen) < 100


def test_objects_of_ours_and_what_is_only_below_them_are_left_out():
    class Ours:
        def __init__(self):
            self.recorded = [bytearray(1000)]

    root = walked(a_walk(is_ours=lambda kind: kind is Ours), kept=[Ours()], ours=Ours())

    assert tree(root) == {".kept list": (1, {})}


def test_what_was_left_out_can_be_let_in_again():
    walk, library = a_walk(), [bytearray(1000)]
    walk.leave_out([library])

    assert tree(walked(walk, kept=[library])) == {".kept list": (1, {})}
    walk.readmit([library])
    assert tree(walked(walk, kept=[library]))[".kept list"][1] == {
        "list": (1, {"bytearray": (1, {})})
    }


def test_what_was_left_out_is_entered_once_where_its_turn_comes():
    walk, library = a_walk(), [bytearray(1000)]
    walk.leave_out([library])
    first, second = Node("first", list), Node("second", list)
    for root in (first, second):
        walk.enter_left_out(root, [library])
    walk.run()

    assert tree(first) == {"list": (1, {"bytearray": (1, {})})}
    assert tree(second) == {}


def test_objects_of_wanted_kinds_are_collected():
    pairs = [Pair(1, 2), Pair(3, 4)]
    walk = a_walk(wanted=lambda kind: kind is Pair)
    walked(walk, kept=[[pairs[0]], {"x": pairs[1]}])

    assert sorted(map(id, walk.found)) == sorted(map(id, pairs))


def test_container_that_does_not_fit_is_left_out_and_the_others_are_followed():
    walk = a_walk(budget=Budget(most_objects=1000, clock=lambda: 0.0))
    root = walked(walk, data=[[] for _ in range(5000)], kept=[bytearray(10)])

    assert walk.cut is Cut.NUMBER
    assert not walk.is_broken
    assert len(walk.seen) < 100
    assert walk.left_out == {root.children[".data", list].key}
    assert root.children[".data", list].fan_out == 5000
    assert root.children[".kept", list].children["", bytearray].count == 1


def test_numbers_need_no_room():
    walk = a_walk(budget=Budget(3_000_000, most_objects=1000, clock=lambda: 0.0))
    walked(walk, losses=[number / 7 for number in range(500_000)])

    assert walk.is_complete


def test_path_that_was_left_out_before_is_left_out_again():
    data = [[] for _ in range(5000)]
    before = a_walk(budget=Budget(most_objects=1000, clock=lambda: 0.0))
    walked(before, data=data)
    walk = a_walk(left_out=before.left_out)
    walked(walk, data=data[:10])

    assert len(walk.seen) == 1
    assert walk.left_out == before.left_out
    assert not walk.is_broken


@pytest.mark.parametrize(
    ("budget", "cut"),
    [
        (Budget(clock=count().__next__, most_seconds=3), Cut.TIME),
        (Budget(most_objects=5000, clock=lambda: 0.0), Cut.NUMBER),
        (Budget(most_bytes=20_000, clock=lambda: 0.0), Cut.MEMORY),
    ],
)
def test_walk_breaks_off_when_the_budget_is_used_up(budget, cut):
    """No length tells how long a chain is."""
    walk = a_walk(budget=budget)
    root = walked(walk, chain=chain_of(Link, 20_000), numbers=[1])

    assert walk.cut is cut
    assert walk.is_broken
    assert len(walk.seen) < 10_000
    in_chain = {node.key for node in root.children[".chain", Link].all_below()}
    assert walk.left_out
    assert walk.left_out <= in_chain


def test_clock_is_not_read_for_every_object():
    reads = []
    walk = a_walk(budget=Budget(clock=lambda: reads.append(1) or 0.0))
    walked(walk, chain=chain_of(Link, 20_000))

    assert 2 <= len(reads) < 200


def test_one_class_that_fails_does_not_hide_the_others(monkeypatch):
    walk = a_walk()
    original = References.of

    def of(self, kind, *arguments):
        if kind is Pair:
            raise RuntimeError
        return original(self, kind, *arguments)

    monkeypatch.setattr(References, "of", of)
    root = walked(walk, pair=Pair(1, 2), kept=[bytearray(10)])

    assert root.children[".kept", list].children["", bytearray].count == 1
    assert walk.cut is Cut.FAILED
    assert walk.left_out == {root.children[".pair", Pair].key}


def test_nothing_is_remembered_of_a_walk_that_is_over():
    import weakref

    trainer = Trainer(images=[1])
    gone = weakref.ref(trainer)
    walk = a_walk(wanted=lambda kind: kind is Trainer)
    root = walked(walk, trainer=trainer, kept=[trainer])
    del trainer
    assert gone() is not None
    root.forget()
    walk.forget()

    assert gone() is None


class Hostile(type):
    """A metaclass that must not be asked for anything."""

    calls = 0

    def explode(cls, *_):
        Hostile.calls += 1
        raise RuntimeError

    __hash__ = __eq__ = __getattribute__ = __instancecheck__ = __subclasscheck__ = explode
    __repr__ = __len__ = __bool__ = explode


def test_class_that_cannot_be_looked_up_is_walked_all_the_same():
    Hostile.calls = 0
    kind = Hostile("Odd", (list,), {"__len__": Hostile.explode})
    odd = type.__call__(kind, [bytearray(100_000)])
    walk = a_walk()
    root = walked(walk, odd=odd, kept=[odd, kind])

    assert walk.is_complete
    assert root.bytes_below >= 100_000
    assert Hostile.calls == 0


MANY = {
    "numbers": lambda: [*range(1_000_000)],
    "names": lambda: {f"key {number}": number for number in range(200_000)},
    "records": lambda: [(number, [number]) for number in range(100_000)],
    "objects": lambda: [Pair(number, None) for number in range(150_000)],
}


@pytest.mark.parametrize("make", MANY.values(), ids=MANY)
def test_walk_takes_little_memory_and_knows_how_much(make):
    """A set of the addresses alone would take 70 bytes for each object."""
    kept = make()
    walked(kept=kept)  # what is made once is made
    tracemalloc.start()
    try:
        walk = a_walk()
        walked(walk, kept=kept)
        _, most_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert most_bytes < 2_000_000 + 40 * len(walk.seen)
    need = expected(type(kept), [kept], None)
    assert most_bytes < 2_000_000 + walk.seen.held_bytes + 9 * need.things + need.bytes_at_once


class Settings:
    """Of a library, with one attribute: Python makes no `__dict__` for it until it is asked."""

    __module__ = "elsewhere"

    def __init__(self, values):
        self.values = values


def test_second_walk_sees_the_same_as_the_first():
    settings = Settings({"units": [1], "activation": [2], "shape": [3]})

    first = walked(settings=settings)
    second = walked(settings=settings)

    assert tree(first) == tree(second)
    [of_library] = first.own_children()
    assert of_library.children["", dict].fan_out == 3
