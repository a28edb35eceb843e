"""Containers that the program adds to stay short, and the program goes on."""

import ast
import textwrap
from collections import deque
from queue import SimpleQueue

import numpy as np
import pytest

from lowwater.agent.instrumentation._inject import compiled, fill_in
from lowwater.diagnose.factors.short_containers import ShortContainers
from lowwater.diagnose.facts import Facts
from lowwater.diagnose.kept_short import KeptShort


def run(text, *lines, may_grow=lambda: False, **names):
    """The names of a program in which some lines are kept short, and what could not be."""
    failed = []
    kept = KeptShort([f"train.py:{line}" for line in lines], may_grow, failed.append)
    tree = ast.parse(textwrap.dedent(text))
    placed = kept.rewrite("train.py", tree, 0)
    code = fill_in(compiled(ast.fix_missing_locations(tree), "train.py"), placed)
    namespace = {**names}
    exec(code, namespace)
    return namespace, failed


@pytest.mark.parametrize(
    ("statement", "made"),
    [
        ("kept.append(i)", "[]"),
        ("kept.extend([i, i])", "[]"),
        ("kept.insert(0, i)", "[]"),
        ("kept += [i]", "[]"),
        ("kept = kept + [i]", "[]"),
        ("kept = (*kept, i)", "()"),
        ("kept.append(i)", "__import__('collections').deque()"),
        ("__import__('heapq').heappush(kept, i)", "[]"),
        ("kept[i] = i", "{}"),
        ("kept.setdefault(i, i)", "{}"),
        ("kept[i] += i", "__import__('collections').Counter()"),
        ("kept.update({i: i})", "{}"),
        ("kept.add(i)", "set()"),
        ("list.append(kept, i)", "[]"),
        ("__import__('operator').setitem(kept, i, i)", "{}"),
    ],
)
def test_container_stays_short_however_it_is_added_to(statement, made):
    program = f"kept = {made}\nfor i in range(100):\n    {statement}\n"
    plain, _ = run(program)

    short, failed = run(program, 3)

    assert len(plain["kept"]) >= 100
    assert 2 <= len(short["kept"]) <= 7
    assert failed == []


def test_first_items_and_the_newest_stay():
    program = """\
        kept = [10, 20]
        for i in range(50):
            kept.append(i)
            assert kept[0] == 10 and kept[-1] == i
        """

    short, _ = run(program, 3)

    assert short["kept"] == [10, 20, 0, 1, 2, 3, 49]


def test_lists_in_a_dictionary_stay_short_and_so_does_the_dictionary():
    program = """\
        from collections import defaultdict
        by_name, by_number = defaultdict(list), {}
        for i in range(100):
            by_name["a"].append(i)
            by_number.setdefault(i, []).append(i)
        """

    short, failed = run(program, 4, 5)

    assert len(short["by_name"]["a"]) <= 6
    assert len(short["by_number"]) <= 6
    assert failed == []


def test_call_that_adds_is_found_inside_of_another_statement():
    program = """\
        kept = []
        run = call(
            each=lambda number: kept.append(number),
        )
        """

    def call(each):
        for number in range(50):
            assert each(number) is None

    short, failed = run(program, 3, call=call)

    assert len(short["kept"]) <= 6
    assert failed == []


def test_arrays_that_are_made_longer_stay_short():
    program = """\
        class Memory:
            rows = np.zeros((2, 3))
        memory = Memory()
        for i in range(50):
            memory.rows = np.concatenate([memory.rows, np.ones((1, 3))])
        """

    short, _ = run(program, 5, np=np)

    assert len(short["memory"].rows) <= 8


def test_other_lines_and_other_files_are_left_alone():
    program = "a, b = [], []\nfor i in range(50):\n    a.append(i)\n    b.append(i)\n"

    short, _ = run(program, 4)

    assert len(short["a"]) == 50
    assert len(short["b"]) <= 6


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("print", "adds to nothing that can be shortened"),
        ("make().append(3)", "adds to nothing that can be shortened"),
        ("model = build(3)", "adds to nothing that can be shortened"),
        ("total += 3", "a int cannot be shortened"),
        ("line.put(3)", "adds to nothing that can be shortened"),
    ],
)
def test_what_cannot_be_kept_short_is_told(statement, said):
    _, [failed] = run(statement, 1, make=list, build=str, total=1, line=SimpleQueue())

    assert said in failed


def test_new_container_at_the_same_address_has_its_own_size():
    kept = KeptShort([], lambda: False, print)
    container = deque(range(100))
    kept.shorten(container)
    container.clear()
    for number in range(50):
        container.append(number)
        kept.shorten(container)

    assert len(container) <= 6


def test_container_may_grow_at_first_and_stays_at_what_it_has_then():
    program = "kept = []\nfor i in range(100):\n    kept.append(i)\n    passed()\n"
    passed = iter(range(1000))
    seen = []

    def count():
        seen.append(next(passed))

    short, _ = run(program, 3, may_grow=lambda: len(seen) < 40, passed=count)

    assert 40 <= len(short["kept"]) <= 46
    assert short["kept"][-1] == 99


def test_function_that_keeps_its_results_forgets_them_in_every_round():
    program = """\
        import functools
        class Reader:
            @functools.lru_cache(
                maxsize=None)
            def read(self, number):
                return number
        @functools.cache
        def square(number):
            return number * number
        """
    failed = []
    kept = KeptShort(["train.py:3", "train.py:8"], lambda: False, failed.append)
    tree = ast.parse(textwrap.dedent(program))
    placed = kept.rewrite("train.py", tree, 0)
    exec(fill_in(compiled(ast.fix_missing_locations(tree), "train.py"), placed), namespace := {})
    for number in range(10):
        assert namespace["square"](number) == number * number
        assert namespace["Reader"]().read(number) == number

    kept.forget_results()

    assert namespace["square"].cache_info().currsize == 0
    assert namespace["Reader"].read.cache_info().currsize == 0
    assert failed == []


def test_decorator_that_keeps_nothing_is_told():
    _, [failed] = run("@same\ndef f():\n    pass\n", 1, same=lambda function: function)

    assert failed == "what f keeps cannot be emptied"


def test_containers_that_help_only_together_are_all_named():
    both = Facts(additions={"train.py:3": "a", "train.py:9": "Reader.b"})

    assert ShortContainers().all_blamed(both) == (
        "what `a` (train.py:3) and `Reader.b` (train.py:9) keep together"
    )
