"""The way from a root to what grows is told by the names that the program gave."""

import pytest

HEAVY = "bytearray(100_000)"

# What the program does, the steps that a reader sees, and the line that adds.
CASES = {
    "a variable of the module": (
        """
        saved = []
        def round():
            saved.append(bytearray(100_000))
        """,
        ["module train", ".saved list 9 items", "[*] bytearray length 100,000"],
        "train.py:3",
    ),
    "an attribute": (
        """
        class Trainer:
            def __init__(self):
                self.saved = []
            def step(self):
                self.saved.append(bytearray(100_000))
        trainer = Trainer()
        round = trainer.step
        """,
        [
            "module train",
            ".trainer Trainer train.py:1",
            ".saved list 9 items",
            "[*] bytearray length 100,000",
        ],
        "train.py:5",
    ),
    "a slot": (
        """
        class Trainer:
            __slots__ = ("saved", "empty")
        trainer = Trainer()
        trainer.saved = []
        def round():
            trainer.saved.append(bytearray(100_000))
        """,
        [
            "module train",
            ".trainer Trainer train.py:1",
            ".saved list 9 items",
            "[*] bytearray length 100,000",
        ],
        "train.py:6",
    ),
    "an attribute of a class": (
        """
        class Trainer:
            saved = []
            def step(self):
                self.saved.append(bytearray(100_000))
        def round():
            Trainer().step()
        """,
        [
            "module train",
            ".Trainer type train.Trainer train.py:1",
            ".saved list 9 items",
            "[*] bytearray length 100,000",
        ],
        "train.py:4",
    ),
    "a closure": (
        """
        def make():
            kept = []
            def round():
                kept.append(bytearray(100_000))
            return round
        round = make()
        """,
        [
            "module train",
            ".round function make.<locals>.round train.py:3",
            "closure kept list 9 items",
            "[*] bytearray length 100,000",
        ],
        "train.py:4",
    ),
    "a default argument": (
        """
        def round(kept=[]):
            kept.append(bytearray(100_000))
        """,
        [
            "module train",
            ".round function round train.py:1",
            "default kept list 9 items",
            "[*] bytearray length 100,000",
        ],
        "train.py:2",
    ),
    "a default argument of a static method": (
        """
        class Trainer:
            @staticmethod
            def step(kept=[]):
                kept.append(bytearray(100_000))
        def round():
            Trainer.step()
        """,
        [
            "module train",
            ".Trainer type train.Trainer train.py:1",
            ".step function Trainer.step train.py:2",
            "default kept list 9 items",
            "[*] bytearray length 100,000",
        ],
        "train.py:4",
    ),
    "a memo": (
        """
        import functools, itertools
        numbers = itertools.count()
        @functools.lru_cache(maxsize=None)
        def table(n):
            return bytearray(100_000)
        def round():
            table(next(numbers))
        """,
        [
            "module train",
            ".table functools._lru_cache_wrapper table train.py:3",
            ".cache dict 9 items",
            "[*] bytearray length 100,000",
        ],
        None,
    ),
    "a memo of a class method": (
        """
        import functools, itertools
        numbers = itertools.count()
        class Net:
            @classmethod
            @functools.lru_cache(maxsize=None)
            def table(cls, n):
                return bytearray(100_000)
        def round():
            Net.table(next(numbers))
        """,
        [
            "module train",
            ".Net type train.Net train.py:3",
            ".table functools._lru_cache_wrapper Net.table train.py:4",
            ".cache dict 9 items",
            "[*] bytearray length 100,000",
        ],
        None,
    ),
    "a partial call": (
        """
        import functools
        def add(kept):
            kept.append(bytearray(100_000))
        round = functools.partial(add, [])
        """,
        [
            "module train",
            ".round functools.partial",
            ".args tuple 1 item",
            "[0] list 9 items",
            "[*] bytearray length 100,000",
        ],
        None,
    ),
    "the object of a method": (
        """
        class Trainer:
            def __init__(self):
                self.saved = []
            def step(self):
                self.saved.append(bytearray(100_000))
        round = Trainer().step
        """,
        [
            "module train",
            ".round method Trainer.step train.py:4",
            ".__self__ Trainer train.py:1",
            ".saved list 9 items",
            "[*] bytearray length 100,000",
        ],
        "train.py:5",
    ),
    "a thread's own": (
        """
        import threading
        local = threading.local()
        local.saved = []
        def round():
            local.saved.append(bytearray(100_000))
        """,
        [
            "module train",
            ".local _thread._local",
            ".saved list 9 items",
            "[*] bytearray length 100,000",
        ],
        "train.py:5",
    ),
    "a generator": (
        """
        def batches():
            kept = []
            while True:
                kept.append(bytearray(100_000))
                yield
        running = batches()
        def round():
            next(running)
        """,
        [
            "module train",
            ".running generator train.py:1",
            "local kept list 9 items",
            "[*] bytearray length 100,000",
        ],
        "train.py:4",
    ),
    "a coroutine": (
        """
        import types
        @types.coroutine
        def pause():
            yield
        async def train():
            kept = []
            while True:
                kept.append(bytearray(100_000))
                await pause()
        running = train()
        def round():
            running.send(None)
        """,
        [
            "module train",
            ".running coroutine train.py:5",
            "local kept list 9 items",
            "[*] bytearray length 100,000",
        ],
        "train.py:8",
    ),
    "one of two lists of a dict": (
        """
        logs = {"loss": [], "image": []}
        def round():
            logs["loss"].append(0.5)
            logs["image"].append(bytearray(100_000))
        """,
        [
            "module train",
            ".logs dict 2 items",
            "['image'] list 9 items",
            "[*] bytearray length 100,000",
        ],
        "train.py:4",
    ),
    "a dict by number": (
        """
        logs = {}
        def round():
            logs[len(logs)] = bytearray(100_000)
        """,
        ["module train", ".logs dict 9 items", "[*] bytearray length 100,000"],
        "train.py:3",
    ),
    "what is heavy in a record": (
        """
        import numpy as np
        memory = []
        def round():
            memory.append((np.zeros(10), np.zeros(20_000), 1, 0.5))
        """,
        [
            "module train",
            ".memory list 9 items",
            "[*] tuple 4 items",
            "[1] numpy.ndarray float64 (20000,)",
        ],
        "train.py:4",
    ),
    "what is heavy in a dict of each round": (
        """
        logs = []
        def round():
            logs.append({"epoch": len(logs), "image": bytearray(100_000)})
        """,
        [
            "module train",
            ".logs list 9 items",
            "[*] dict 2 items",
            "['image'] bytearray length 100,000",
        ],
        "train.py:3",
    ),
    "a named tuple": (
        """
        from typing import NamedTuple
        class Row(NamedTuple):
            epoch: int
            image: bytearray
        rows = []
        def round():
            rows.append(Row(1, bytearray(100_000)))
        """,
        [
            "module train",
            ".rows list 9 items",
            "[*] Row train.py:2",
            "[*] bytearray length 100,000",
        ],
        "train.py:7",
    ),
    "a data class in an object": (
        """
        from dataclasses import dataclass, field
        @dataclass
        class Run:
            images: dict = field(default_factory=dict)
        class Study:
            def __init__(self):
                self.run = Run()
        study = Study()
        def round():
            study.run.images[len(study.run.images)] = bytearray(100_000)
        """,
        [
            "module train",
            ".study Study train.py:5",
            ".run Run train.py:3",
            ".images dict 9 items",
            "[*] bytearray length 100,000",
        ],
        "train.py:10",
    ),
    "the owner of a view": (
        """
        import numpy as np
        kept = []
        def round():
            kept.append(np.zeros(100_000)[:10])
        """,
        [
            "module train",
            ".kept list 9 items",
            "[*] numpy.ndarray float64 (10,)",
            "numpy.ndarray float64 (100000,)",
        ],
        "train.py:4",
    ),
    "the frame of a failure": (
        """
        failed = []
        def train():
            batch = bytearray(100_000)
            raise ValueError("no luck")
        def round():
            try:
                train()
            except ValueError as error:
                failed.append(error)
        """,
        [
            "module train",
            ".failed list 9 items",
            "[*] ValueError",
            ".__traceback__ traceback train.py:7",
            ".tb_next traceback train.py:4",
            ".tb_frame frame train() train.py:4",
            "local batch bytearray length 100,000",
        ],
        "train.py:9",
    ),
    "a list of the program's own kind": (
        """
        class Memory(list):
            def __len__(self): raise RuntimeError
            def __iter__(self): raise RuntimeError
        memory = Memory()
        def round():
            memory.append(bytearray(100_000))
        """,
        ["module train", ".memory Memory train.py:1", "[*] bytearray length 100,000"],
        "train.py:6",
    ),
}


@pytest.mark.parametrize(("text", "steps", "where"), CASES.values(), ids=CASES)
def test_whole_way_is_told(a_program, text, steps, where):
    program = a_program(text)
    holder = program.holder()

    assert [program.line(step) for step in holder.steps] == steps
    assert (holder.sites[0].where if holder.sites else None) == where
    container = program.line(holder.steps[holder.container])
    assert "9 items" in container or "Memory" in container


def test_item_that_is_shown_is_the_latest(a_program):
    program = a_program("""
        import numpy as np
        saved = [np.zeros((3, 3))]
        def round():
            saved.append(np.zeros((len(saved), 10_000)))
        """)

    assert program.shown()[-1] == "[*] numpy.ndarray float64 (9, 10000)"


def test_of_many_lists_the_one_that_grew_is_shown(a_program):
    program = a_program("""
        class Worker:
            def __init__(self, name):
                self.name = name
                self.saved = [0.5]
        workers = [Worker(str(number)) for number in range(50)]
        def round():
            workers[33].saved.append(bytearray(100_000))
        """)

    assert program.shown() == [
        "module train",
        ".workers list 50 items",
        "[*] Worker train.py:1",
        ".saved list 10 items",
        "[*] bytearray length 100,000",
    ]


def test_variable_of_a_running_function_is_named_with_its_line(a_program):
    program = a_program("""
        def train(census):
            kept, seen = [], None
            for epoch in range(9):
                kept.append(bytearray(100_000))
                if epoch % 3 == 2:
                    seen = census()
            return seen
        """)
    [holder] = program.module.train(program.census).holders

    assert [program.line(step) for step in holder.steps] == [
        "frame train() train.py:6",
        "local kept list 9 items",
        "[*] bytearray length 100,000",
    ]
    assert [site.where for site in holder.sites] == ["train.py:4"]


def test_class_that_was_never_written_down_has_no_line(a_program):
    program = a_program("""
        namespace = {"__name__": __name__}
        exec("class Made:\\n def __init__(self): self.saved = []", namespace)
        made = namespace.pop("Made")()
        Typed = type("Typed", (), {})
        typed = Typed()
        typed.made = made
        del made
        def round():
            typed.made.saved.append(bytearray(100_000))
        """)
    holder = program.holder()

    assert [program.line(step) for step in holder.steps] == [
        "module train",
        ".typed Typed",
        ".made Made",
        ".saved list 9 items",
        "[*] bytearray length 100,000",
    ]
    assert [site.where for site in holder.sites] == ["train.py:9"]


def test_attribute_that_the_program_gave_to_an_object_of_a_library_is_named(a_program):
    program = a_program("""
        import argparse
        options = argparse.ArgumentParser()
        options.saved = []
        def round():
            options.saved.append(bytearray(100_000))
        """)
    holder = program.holder()

    assert program.shown()[:3] == [
        "module train",
        ".options argparse.ArgumentParser",
        ".saved list 18 items",
    ]
    assert [site.where for site in holder.sites] == ["train.py:5"]


def test_no_step_is_nothing(a_program):
    """Where an object on the way is not remembered, one like it stands for it."""
    program = a_program("""
        class Leaf:
            def __init__(self):
                self.rows = []
        class Branch:
            def __init__(self, depth):
                self.below = [Branch(depth - 1) for _ in range(3)] if depth else [Leaf()]
        tree = Branch(6)
        def leaves(branch):
            for one in branch.below:
                yield from leaves(one) if type(one) is Branch else [one]
        def round():
            for leaf in leaves(tree):
                leaf.rows.append(bytearray(1_000))
        """)
    holder, *_ = program.holders()

    assert holder.steps[0].type == "module"
    assert all(step.type != "NoneType" for step in holder.steps)
    assert holder.steps[-1].type == "bytearray"
