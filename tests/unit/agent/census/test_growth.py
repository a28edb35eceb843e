"""What holds more from census to census is found; what only holds much, or grew once, is not."""

import pytest

from lowwater.agent.census.growth import compare, key_of, summarise
from lowwater.agent.census.nodes import Node

MIB = 1 << 20

GROWS = {
    "a list": """
        kept = []
        def round():
            kept.append(bytearray(100_000))
        """,
    "a list that is made anew": """
        kept = []
        def round():
            global kept
            kept = kept + [bytearray(100_000)]
        """,
    "a dict of lists by number": """
        kept = {number: [] for number in range(100)}
        def round():
            kept[7].append(bytearray(100_000))
        """,
    "a dict by a few names": """
        kept = {}
        def round():
            kept[f"epoch {len(kept)}"] = bytearray(100_000)
        """,
    "a dict by names that become many": """
        kept = {}
        def round():
            for _ in range(5):
                kept[f"epoch {len(kept)}"] = bytearray(100_000)
        """,
    "an endless deque": """
        from collections import deque
        kept = deque()
        def round():
            kept.append(bytearray(100_000))
        """,
    "a set": """
        kept = set()
        def round():
            kept.add(bytes(100_000 + len(kept)))
        """,
    "attributes with made-up names": """
        class Run: pass
        kept, made = Run(), []
        def round():
            made.append(0)
            setattr(kept, f"epoch_{len(made)}", bytearray(100_000))
        """,
    "a counter": """
        from collections import Counter
        kept = Counter()
        def round():
            kept.update(f"{len(kept)} {'x' * 500}" for _ in range(500))
        """,
    "an ordered dict": """
        from collections import OrderedDict
        kept = OrderedDict()
        def round():
            kept[len(kept)] = bytearray(100_000)
        """,
    "an array that is made anew": """
        import numpy as np
        kept = np.zeros((0, 1000))
        def round():
            global kept
            kept = np.concatenate([kept, np.zeros((20, 1000))])
        """,
    "bytes": """
        kept = b""
        def round():
            global kept
            kept += bytes(100_000)
        """,
    "a bytearray": """
        kept = bytearray()
        def round():
            kept.extend(bytes(100_000))
        """,
    "text": """
        kept = ""
        def round():
            global kept
            kept += "x" * 100_000
        """,
    "text in a file of memory": """
        import io
        kept = io.BytesIO()
        def round():
            kept.write(bytes(100_000))
        """,
    "an array of objects": """
        import numpy as np
        kept, count = np.empty(100, object), 0
        def round():
            global count
            kept[count] = bytearray(100_000)
            count += 1
        """,
    "numbers": """
        import random
        kept = []
        def round():
            kept.extend(random.random() for _ in range(5_000))
        """,
    "keys": """
        kept = {}
        def round():
            for _ in range(1_000):
                kept[f"{len(kept)} {'x' * 200}"] = True
        """,
    "objects": """
        class Thing:
            def __init__(self):
                self.data = bytearray(100_000)
        kept = []
        def round():
            kept.append(Thing())
        """,
}


@pytest.mark.parametrize("text", GROWS.values(), ids=GROWS)
@pytest.mark.parametrize("censuses", [2, 3, 5])
def test_what_grows_in_every_round_is_found(a_program, text, censuses):
    program = a_program(text)
    holder = program.holder(censuses=censuses)

    assert holder.steps[holder.container].edge in (".kept", "[*]")
    assert len(holder.counts) == len(holder.sizes_bytes) == censuses
    sizes = [*holder.sizes_bytes]
    assert sizes == sorted(set(sizes))
    assert sizes[-1] - sizes[0] == pytest.approx(holder.grown_bytes, rel=0.1, abs=50_000)
    assert [site.where for site in holder.sites], "the line that adds to it is known"


STAYS = {
    "a full list": """
        kept = [bytearray(1_000_000) for _ in range(10)]
        def round():
            pass
        """,
    "a bounded deque": """
        from collections import deque
        kept = deque((bytearray(100_000) for _ in range(20)), maxlen=20)
        def round():
            kept.append(bytearray(100_000))
        """,
    "a list that is emptied": """
        kept = []
        def round():
            kept.append(bytearray(100_000))
            if len(kept) >= 3:
                kept.clear()
        """,
    "a list that shrinks": """
        kept = [bytearray(100_000) for _ in range(100)]
        def round():
            kept.pop()
        """,
    "a list that grew once": """
        kept, rounds = [], 0
        def round():
            global rounds
            rounds += 1
            if rounds == 4:
                kept.extend(bytearray(100_000) for _ in range(9))
        """,
    "a list that grew at the end only": """
        kept, rounds = [], 0
        def round():
            global rounds
            rounds += 1
            if rounds >= 7:
                kept.append(bytearray(300_000))
        """,
    "a dict that is full": """
        kept, rounds = {}, 0
        def round():
            global rounds
            rounds += 1
            kept[rounds % 3] = bytearray(100_000)
        """,
    "numbers that are the same few": """
        kept = []
        def round():
            kept.extend([0.0, 1.0] * 100)
        """,
    "an array that is replaced by one of the same size": """
        import numpy as np
        kept = np.zeros(100_000)
        def round():
            global kept
            kept = kept + 1
        """,
    "a variable that appears late": """
        rounds = 0
        def round():
            global rounds
            rounds += 1
            if rounds == 5:
                globals()["kept"] = [bytearray(100_000) for _ in range(9)]
        """,
    "a variable that appears late and is replaced": """
        rounds = 0
        def round():
            global rounds, kept
            rounds += 1
            kept = [bytearray(100_000) for _ in range(min(rounds, 6))] if rounds > 3 else None
        """,
    "garbage": """
        def round():
            loop = [bytearray(100_000)]
            loop.append(loop)
        """,
}


@pytest.mark.parametrize("text", STAYS.values(), ids=STAYS)
def test_what_does_not_grow_in_every_round_is_not_accused(a_program, text):
    assert a_program(text).holders() == []


CAUGHT_LATER = {
    "a list that is emptied in every round": """
        import numpy as np
        kept = []
        def round(steps, census):
            kept.clear()
            for _ in range(steps):
                kept.append(np.zeros(12_500))
            return census()
        """,
    "a list that is made in every round": """
        import numpy as np
        kept = []
        def round(steps, census):
            global kept
            kept = []
            for _ in range(steps):
                kept.append(np.zeros(12_500))
            return census()
        """,
    "a variable of a function": """
        import numpy as np
        def round(steps, census):
            kept = []
            for _ in range(steps):
                kept.append(np.zeros(12_500))
            return census()
        """,
    "a list of an object that lives on": """
        import numpy as np
        class Log:
            pass
        log = Log()
        def round(steps, census):
            log.kept = []
            for _ in range(steps):
                log.kept.append(np.zeros(12_500))
            return census()
        """,
    "an array of an object that is made in every round": """
        import numpy as np
        class Run:
            def __init__(self, steps):
                self.kept = np.zeros(12_500 * steps)
                self.name = "run"
        def round(steps, census):
            run = Run(steps)
            return census()
        """,
    "small things of an object that is made in every round": """
        import numpy as np
        class Layer:
            pass
        class Model:
            def __init__(self):
                self.layers = []
        def round(steps, census):
            model = Model()
            for _ in range(steps):
                model.layers.append(Layer())
            return census()
        """,
    "an attribute that is set late in every round": """
        import numpy as np
        class Log:
            pass
        log = Log()
        def round(steps, census):
            log.last = [np.zeros(12_500 * steps)] if steps > 2 else None
            return census()
        """,
    "a dict of an object that is made in every round": """
        import numpy as np
        class Model:
            def __init__(self):
                self.kept = {}
        def round(steps, census):
            model = Model()
            for step in range(steps):
                model.kept[f"step {step}"] = np.zeros(12_500)
            return census()
        """,
}


@pytest.mark.parametrize("text", CAUGHT_LATER.values(), ids=CAUGHT_LATER)
@pytest.mark.parametrize("steps", [(2, 9), (2, 5, 9)])
def test_round_that_is_caught_at_a_later_stage_has_not_grown(a_program, text, steps):
    program = a_program(text)
    for number in steps:
        seen = program.module.round(number, program.census)

    assert [holder for holder in seen.holders if holder.is_users] == []


GROWS_BY_RENEWAL = {
    "a state that is replaced": """
        from dataclasses import dataclass, replace
        @dataclass(frozen=True)
        class State:
            kept: tuple = ()
        state = State()
        def round():
            global state
            state = replace(state, kept=(*state.kept, bytearray(100_000)))
        """,
    "a dict that is copied": """
        state = {"kept": {}}
        def round():
            global state
            kept = state["kept"]
            state = {"kept": {**kept, len(kept): bytearray(100_000)}}
        """,
    "a queue that is read more slowly than it is written": """
        from collections import deque
        kept = deque()
        def round():
            kept.extend(bytearray(100_000) for _ in range(9))
            for _ in range(8):
                kept.popleft()
        """,
}


@pytest.mark.parametrize("text", GROWS_BY_RENEWAL.values(), ids=GROWS_BY_RENEWAL)
def test_what_is_made_anew_and_keeps_its_items_is_found(a_program, text):
    assert a_program(text).holder(censuses=2).counts[-1] > 0


def test_variable_that_appears_between_the_only_two_censuses_is_not_accused(a_program):
    program = a_program("""
        def round():
            globals().setdefault("kept", [bytearray(100_000) for _ in range(9)])
        """)
    program.census()

    assert program.holders(censuses=1) == []


GIVEN_AWAY = """
    import weakref
    class Shard:
        def __init__(self):
            self.rows = bytearray(100_000)
            weakref.finalize(self, self.cleanup)
        def cleanup(self):
            pass
    def round():
        Shard()
    """


def test_methods_that_python_keeps_are_found_where_they_are_given_away(a_program_among_all):
    program = a_program_among_all(GIVEN_AWAY)
    for _ in range(3):
        for _ in range(3):
            program.module.round()
        seen = program.census()
    [holder] = [one for one in seen.holders if any("cleanup" in s.about for s in one.steps)]

    assert not holder.is_users
    assert [site.where for site in holder.sites] == ["train.py:5"]


NAMED_VALUES = {
    "context variable": (
        """
        import contextvars
        kept = contextvars.ContextVar("kept", default=())
        def round():
            kept.set(kept.get() + (bytearray(100_000),))
        """,
        ".get()",
        4,
    ),
    "namespace": (
        """
        import types
        kept = types.SimpleNamespace(index={"lobby": {}})
        def round():
            kept.index["lobby"][len(kept.index["lobby"])] = bytearray(100_000)
        """,
        "['lobby']",
        4,
    ),
}


@pytest.mark.parametrize(("text", "edge", "line"), NAMED_VALUES.values(), ids=NAMED_VALUES)
def test_values_of_objects_of_the_standard_library_are_followed(a_program, text, edge, line):
    holder = a_program(text).holder()

    assert holder.steps[holder.container].edge == edge
    assert [site.where for site in holder.sites] == [f"train.py:{line}"]


MADE_UP_VARIABLES = """
    made = []
    def round():
        made.append(0)
        globals()[f"model_{len(made)}"] = bytearray(100_000)
    """
MADE_UP_ATTRIBUTES = """
    class Run:
        def log(self, name, value):
            setattr(self, name, value)
    run, made = Run(), []
    def round():
        made.append(0)
        run.log(f"epoch_{len(made)}", bytearray(100_000))
    """


@pytest.mark.parametrize(
    ("text", "name", "line"), [(MADE_UP_VARIABLES, "", 4), (MADE_UP_ATTRIBUTES, ".run", 3)]
)
def test_names_that_are_made_up_are_found_where_that_is_done(a_program, text, name, line):
    holder = a_program(text).holder(censuses=3)

    assert holder.steps[holder.container].edge == name
    assert [site.where for site in holder.sites] == [f"train.py:{line}"]
    assert holder.counts == (3, 6, 9)
    assert holder.grown_bytes == pytest.approx(600_000, rel=0.1)


def test_variables_that_are_numbered_by_hand_are_not_accused(a_program):
    program = a_program(
        """
        rounds = 0
        x1 = bytearray(200_000)
        def round():
            global rounds, x2
            rounds += 1
            if rounds == 5:
                x2 = bytearray(200_000)
        """
    )

    assert program.holders() == []


def test_two_growing_attributes_of_one_object_are_two_suspects(a_program):
    program = a_program("""
        class Trainer:
            def __init__(self):
                self.images, self.audio, self.model = [], {}, bytearray(5_000_000)
            def step(self):
                self.images.append(bytearray(100_000))
                self.audio[len(self.audio)] = bytearray(50_000)
        trainer = Trainer()
        round = trainer.step
        """)
    images, audio = program.holders()

    assert [images.steps[2].edge, audio.steps[2].edge] == [".images", ".audio"]
    assert images.grown_bytes == pytest.approx(2 * audio.grown_bytes, rel=0.05)
    assert [images.sites[0].where, audio.sites[0].where] == ["train.py:5", "train.py:6"]


def test_two_containers_with_the_same_things_share_the_growth(a_program):
    program = a_program("""
        first, second = [], {}
        def round():
            thing = bytearray(100_000)
            first.append([thing])
            second[len(second)] = [thing]
        """)
    holders = program.holders()

    assert {holder.steps[1].edge for holder in holders} == {".first", ".second"}
    assert sum(holder.grown_bytes for holder in holders) == pytest.approx(600_000, rel=0.1)


def test_containers_in_a_growing_container_are_no_suspects_beside_it(a_program):
    program = a_program("""
        kept = []
        def round():
            kept.append([[bytearray(50_000)], [bytearray(50_000)]])
        """)
    holder = program.holder()

    assert holder.steps[holder.container].edge == ".kept"
    assert holder.counts == (3, 6, 9)


def test_same_object_is_found_by_another_way_at_the_second_census(a_program):
    program = a_program("""
        def work(kept, census):
            for _ in range(3):
                kept.append(bytearray(100_000))
            return census()
        def other(rows, census):
            return work(rows, census)
        """)
    module, kept = program.module, []
    module.work(kept, program.census)
    seen = module.other(kept, program.census)
    [holder] = [one for one in seen.holders if one.is_users]

    assert holder.counts == (3, 6)


def test_two_threads_in_one_function_are_not_taken_for_each_other(a_program):
    """One of them has a large list, the other a small one, and neither grows."""
    import threading

    program = a_program("""
        def work(size, ready, go_on):
            kept = [bytearray(10_000) for _ in range(size)]
            ready.wait()
            go_on.wait()
        """)
    ready, go_on = threading.Barrier(3), threading.Event()
    threads = [
        threading.Thread(target=program.module.work, args=(size, ready, go_on)) for size in (5, 500)
    ]
    for thread in threads:
        thread.start()
    ready.wait()
    try:
        found = [program.census(4 * MIB).holders for _ in range(3)]
    finally:
        go_on.set()
        for thread in threads:
            thread.join()

    held = [step.edge for holders in found for one in holders for step in one.steps]
    assert "local kept" not in held


def test_function_that_calls_itself_is_not_taken_for_itself(a_program):
    program = a_program("""
        def descend(depth, census):
            kept = [bytearray(100_000)]
            if depth:
                return descend(depth - 1, census)
            return [census().holders for _ in range(3)]
        """)

    assert program.module.descend(5, program.census) == [(), (), ()]


def test_object_whose_attributes_are_looked_at_by_the_program_keeps_its_path(a_program):
    """`vars(thing)` changes how Python keeps the values; to us it is the same object."""
    program = a_program("""
        import argparse
        box, rounds = argparse.Namespace(), 0
        box.saved = []
        def round():
            global rounds
            rounds += 1
            box.saved.append(bytearray(100_000))
            if rounds == 5:
                vars(box)
        """)

    assert program.holder(censuses=4).counts == (3, 6, 9, 12)


def test_growth_below_a_fiftieth_is_not_worth_a_suspect(a_program):
    program = a_program("""
        large, small = [], []
        def round():
            large.append(bytearray(4_000_000))
            small.append(bytearray(20_000))
        """)
    for _ in range(3):
        program.module.round()
        program.module.round()
        seen = program.census(8 * MIB)

    assert [holder.steps[1].edge for holder in seen.holders] == [".large"]


def a_tree(grown):
    """A root with one list of so many items, each of 100,000 bytes."""
    root = Node("train", type(pytest), is_users=True)
    below = root.child(list, ".kept")
    below.count, below.fan_out, below.own_bytes = 1, grown, 56 + 8 * grown
    items = below.child(bytearray)
    items.count, items.own_bytes = grown, grown * 100_000
    root.sum_up()
    return root


def test_summary_holds_numbers_alone():
    root = a_tree(3)
    root.children[".kept", list].objects = [[1, 2, 3]]
    summary = summarise([root], MIB)

    assert summary.in_use_bytes == MIB
    kinds = {type(part) for total in summary.totals.values() for part in total}
    assert kinds == {int}
    assert [*summary.lengths.values()] == [3]


def test_comparison_of_summaries():
    first, second = summarise([a_tree(3)], 0), summarise([a_tree(6)], MIB)
    [suspect], longer = compare([a_tree(9)], [first, second], 2 * MIB)

    assert suspect.counts == (3, 6, 9)
    assert suspect.sizes_bytes == (300_080, 600_104, 900_128)
    assert suspect.grown_bytes == 600_048
    assert [node.kind for node in suspect.multiplied] == [bytearray]
    assert longer == []


def test_container_that_was_not_there_before_has_not_got_longer():
    """The model of this round, caught at a later stage than that of the first census."""
    root, later = Node("train", type(pytest), is_users=True), a_tree(9)

    _, longer = compare([later], [summarise([root], MIB)], 2 * MIB)

    assert longer == []


def test_comparison_with_a_census_in_which_it_stood_still():
    series = [summarise([a_tree(size)], level * MIB) for level, size in enumerate((3, 6, 6))]

    assert compare([a_tree(9)], series, 3 * MIB) == ([], [])


def test_key_of_a_path_tells_names_and_types_apart():
    root = a_tree(1)
    others = [root.child(list, ".other"), root.child(dict, ".kept"), root.child(list)]
    keys = {key_of(node, 0) for node in (root, root.children[".kept", list], *others)}

    assert len(keys) == 5
    assert key_of(root, 1) != key_of(root, 2)


def a_library(given):
    root = Node("keras", type(pytest))
    call = root.child(tuple, "local args")
    call.count, call.fan_out, call.own_bytes = min(given, 1), given, 48
    items = call.child(bytearray)
    items.count, items.own_bytes = given, given * 900_000
    root.sum_up()
    return root


def test_what_a_call_of_a_library_is_given_at_the_second_of_two_censuses_is_not_accused():
    earlier = [summarise([a_library(0)], 0)]

    assert compare([a_library(1)], earlier, MIB) == ([], [])
    # Ten things are not one that is passing through.
    assert len(compare([a_library(10)], earlier, MIB)[0]) == 1
