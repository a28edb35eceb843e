"""What is in memory is told once, by kind, place and holder; what was not found is told as well."""

import json
import subprocess
import sys

import pytest

from lowwater.giveback.holdings import Holdings
from lowwater.model.holding import Holding

MIB = 1 << 20
HOLDS = """\
import gc, json, sys, threading, weakref
import numpy as np
import lowwater

big = np.ones(1 << 20)
view = big[10:]
again = big
rows = []
for _ in range(3):
    rows.append(np.ones(1 << 17))
tables = {"train": np.ones(1 << 18), "test": np.ones(1 << 16)}
numbers = [float(number) for number in range(200_000)]

class Memory:
    def __init__(self):
        self.seen = None
        self.seen = np.ones(1 << 19)
        self.steps = []

    def add(self):
        self.steps.append(np.ones(1 << 16))

class Marked(np.ndarray):
    pass

memory = Memory()
memory.add()

def look():
    inside = np.ones(1 << 15)
    return lowwater.holdings()

def waits(event):
    of_thread = np.ones(1 << 14)
    event.wait()

event = threading.Event()
thread = threading.Thread(target=waits, args=(event,))
thread.start()
gc.collect()
state = gc.isenabled(), gc.get_threshold(), gc.get_freeze_count()
before = len(gc.get_objects())
found = look()
event.set()
thread.join()
is_same = (gc.isenabled(), gc.get_threshold(), gc.get_freeze_count()) == state
mine = np.ones(1 << 15).view(Marked)
gone = weakref.ref(mine)
kept = lowwater.holdings(), lowwater.memory()
gc.disable()
del mine
is_gone = gone() is None
print(json.dumps([found.to_dict(), str(found), is_same, is_gone]))
"""


def program(folder, text):
    (folder / "train.py").write_text(text)
    done = subprocess.run(
        [sys.executable, "train.py"], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    return program(tmp_path_factory.mktemp("program"), HOLDS)


@pytest.fixture
def arrays(told):
    rows = [row for row in told[0]["rows"] if row["kind"] == "array"]
    return {row["held_by"]: (row["count"], row["size_bytes"], row["where"]) for row in rows}


def test_array_is_counted_once_however_many_variables_and_views_it_has(arrays):
    assert arrays["`big`"] == (1, 8 * MIB, "train.py:5")
    assert "`view`" not in arrays
    assert "`again`" not in arrays


def test_container_is_named_at_the_line_that_adds_to_it(arrays):
    assert arrays["`rows`"] == (3, 3 * MIB, "train.py:10")
    assert arrays["`memory.steps`"] == (1, MIB // 2, "train.py:21")


def test_item_and_attribute_are_named_with_their_owner(arrays):
    assert arrays["`tables['train']`"] == (1, 2 * MIB, "train.py:11")
    assert arrays["`memory.seen`"] == (1, 4 * MIB, "train.py:17")


def test_locals_of_all_threads_are_holders(arrays):
    assert arrays["`inside`"] == (1, MIB // 4, "train.py:30")
    assert arrays["`of_thread`"] == (1, MIB // 8, "train.py:34")


def test_list_of_numbers_is_told_as_objects(told):
    [row] = [row for row in told[0]["rows"] if row["held_by"] == "`numbers`"]

    assert (row["kind"], row["place"], row["where"]) == ("objects", "host", "train.py:12")
    assert 6_000_000 < row["size_bytes"] < 10_000_000


def test_rest_is_what_is_in_use_and_was_not_found(told):
    found = told[0]

    assert found["schema"] == "lowwater.holdings/1"
    total = sum(row["size_bytes"] for row in found["rows"])
    assert found["not_attributed_bytes"]["host"] == found["in_use_bytes"]["host"] - total
    assert [row["size_bytes"] for row in found["rows"]] == sorted(
        (row["size_bytes"] for row in found["rows"]), reverse=True
    )


def test_collector_is_as_before_and_nothing_is_kept_alive(told):
    assert told[2:] == [True, True]


ROWS = (
    Holding("optimizer", 1, 15 * MIB, "GPU:0", "`model`", "train.py:21"),
    Holding(
        "array", 12_345_678, 3 * MIB, "host", f"`{'name' * 30}`", "some/long/path/to/train.py:8"
    ),
    Holding("data set", 1, MIB, "host", "no holder found"),
)


def test_table_fits_80_columns_and_ends_with_the_rest():
    held = Holdings(ROWS, {"host": 10 * MIB, "GPU:0": 14 * MIB}, {"host": 6 * MIB, "GPU:0": -MIB})

    assert str(held) == (
        "in use: host 10.0 MiB, GPU:0 14.0 MiB\n"
        "kind            count     bytes  place  held by\n"
        "optimizer           1  15.0 MiB  GPU:0  `model` at train.py:21\n"
        "array      12,345,678   3.0 MiB  host   `namenamenamenamenamename… at train.py:8\n"
        "data set            1   1.0 MiB  host   no holder found\n"
        "not attributed          6.0 MiB  host   in use, but in no object that was found\n"
        "not attributed         -1.0 MiB  GPU:0  some tensors share memory"
    )
    assert max(map(len, str(held).splitlines())) <= 80


def test_many_rows_end_in_a_sum_and_the_rest_is_never_hidden():
    rows = tuple(Holding("array", 2, 1024, "host", f"`a{number}`") for number in range(40))

    lines = str(Holdings(rows, {"host": MIB}, {"host": MIB - 40 * 1024})).splitlines()

    assert lines[-2].split()[:4] == ["smaller", "48", "24.0", "KiB"]
    assert lines[-2].endswith("24 more rows")
    assert lines[-1].startswith("not attributed")


def test_place_that_cannot_be_measured_says_why():
    held = Holdings(ROWS[:1], {"GPU:0": None}, {"GPU:0": None}, {"GPU:0": "it is a secret"})

    assert str(held).splitlines()[0] == "in use: GPU:0 not measured"
    assert str(held).splitlines()[-1] == ("note: GPU:0: bytes in use not measured: it is a secret")


def test_places_with_the_same_reason_share_a_sentence():
    places = [f"GPU:{number}" for number in range(3)]
    unknown, reasons = dict.fromkeys(places), dict.fromkeys(places, "it is a secret")

    held = Holdings(ROWS[:1], unknown, unknown, {**reasons, "GPU:2": "it is lost"})

    assert str(held).splitlines()[-2:] == [
        "note: GPU:0, GPU:1: bytes in use not measured: it is a secret",
        "note: GPU:2: bytes in use not measured: it is lost",
    ]


def test_names_of_the_program_are_escaped_in_a_notebook():
    shown = Holdings((Holding("array", 1, 5, "host", "`<b>`", "<i>.py:1"),))._repr_html_()

    assert "<td style='text-align:left'>`&lt;b&gt;` at &lt;i&gt;.py:1</td>" in shown


def test_it_imports_no_framework_and_no_numpy():
    text = (
        "import sys, lowwater; str(lowwater.holdings()); lowwater.memory()\n"
        "print(*{name.partition('.')[0] for name in sys.modules})"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, check=True
    ).stdout.split()

    assert {"tensorflow", "keras", "jax", "torch", "numpy", "scipy"}.isdisjoint(loaded)
