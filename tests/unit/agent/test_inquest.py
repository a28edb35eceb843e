"""An inquest costs nothing until it is called, and tells what it found as records."""

import gc
import re
import subprocess
import sys
import threading
import types

import pytest

from lowwater.agent.inquest import Inquest
from lowwater.agent.instrumentation.calls import Calls, Site
from lowwater.agent.instrumentation.lifecycles import Lives
from lowwater.agent.program import LoadedFile
from lowwater.model import tallies
from lowwater.recording.records import Held, Tallied, Weighed

FILE = "/home/me/train_of_an_inquest.py"
MIB = 1 << 20
TEXT = b"""\
kept = []
def step():
    kept.append(bytearray(100_000))
"""


class Machine:
    """How much memory is free on it; None where that is not known."""

    free_bytes = None

    def headroom(self):
        return self.free_bytes


@pytest.fixture
def machine():
    return Machine()


@pytest.fixture
def notes():
    return []


@pytest.fixture
def inquest(machine, notes):
    files = {FILE: LoadedFile(TEXT, "train.py")}
    calls = Calls(files.__contains__)
    lives = {tallies.MODELS: Lives(calls)}
    return Inquest(files, calls, lives, notes.append, machine.headroom, clock=lambda: 0.0)


@pytest.fixture
def program():
    module = types.ModuleType("train_of_an_inquest")
    module.__file__ = FILE
    sys.modules[module.__name__] = module
    exec(compile(TEXT, FILE, "exec"), module.__dict__)
    yield module
    del sys.modules[module.__name__]


def told(records, kind):
    [record] = [one for one in records if isinstance(one, kind)]
    return record


def tally(records, kind):
    return [row for row in told(records, Tallied).tallies if row.kind == kind]


def test_that_memory_was_too_tight_for_all_objects_is_told_once(inquest, machine, notes, program):
    machine.free_bytes = 30 * MIB
    program.data = [[] for _ in range(1_000_000)]
    for level in range(3):
        program.step()
        objects, records = inquest(level * MIB)

    [note] = notes
    assert re.fullmatch(
        r"too little memory was free \(30\.0 MiB\) for a full heap scan: [\d,]+ objects were "
        r"scanned, and a cause may be among the others",
        note,
    )
    assert objects < 1_000_000
    [holder] = [one for one in told(records, Held).holders if one.is_users]
    assert [site.where for site in holder.sites] == ["train.py:3"]


def test_without_room_no_object_is_looked_at(inquest, machine, notes):
    machine.free_bytes = 6 * MIB

    assert inquest(0) is None
    assert inquest(MIB) is None
    assert notes == [
        ("too little memory was free (6.0 MiB) for a heap scan: what holds the memory is not known")
    ]
    assert tally(inquest.last_words(), tallies.COLLECTOR)


def test_census_that_leaves_out_more_than_the_first_starts_over(inquest, machine, program):
    program.data = [[] for _ in range(1_000_000)]
    inquest.calls.counts[Site("fit", FILE, 7)] += 2
    _, first = inquest(0)
    machine.free_bytes = 15 * MIB
    _, second = inquest(MIB)

    assert told(first, Weighed).starts_over
    assert told(second, Weighed).starts_over
    assert told(second, Held).holders == []
    [fit] = tally(second, tallies.CALLS)
    assert fit.counts == (2,)


def test_objects_are_counted_and_holders_told(inquest, program):
    for level in range(3):
        for _ in range(3):
            program.step()
        objects, records = inquest(level * MIB)
    [holder] = [one for one in told(records, Held).holders if one.is_users]

    assert objects > 1000
    assert holder.counts == (3, 6, 9)
    assert [site.where for site in holder.sites] == ["train.py:3"]


def test_calls_are_told_by_their_lines_with_one_count_per_census(inquest):
    for _ in range(2):
        inquest.calls.counts[Site("fit", FILE, 7)] += 2
        inquest.calls.counts[Site("optimizer", FILE, 8)] += 1
        inquest.calls.shapes.setdefault(Site("predict", FILE, 9), set()).add(len(gc.get_objects()))
        _, records = inquest(0)

    [fit] = tally(records, tallies.CALLS)
    [optimizer] = tally(records, tallies.OPTIMIZERS)
    assert (fit.name, fit.where, fit.counts) == ("fit", "train.py:7", (2, 4))
    assert (optimizer.where, optimizer.counts) == ("train.py:8", (1, 2))
    assert [row.where for row in tally(records, tallies.SHAPES)] == ["train.py:9"]


def test_state_of_the_collector_is_told_as_the_program_has_it(inquest):
    def enabled(records):
        return [row.counts for row in tally(records, tallies.COLLECTOR) if row.name == "enabled"]

    gc.disable()
    try:
        assert enabled(inquest(0)[1]) == [(0,)]
    finally:
        gc.enable()
    assert enabled(inquest(0)[1]) == [(0, 1)]


def test_run_without_a_census_has_last_words_and_others_have_none(inquest):
    inquest.calls.counts[Site("fit", FILE, 7)] += 2

    [fit] = tally(inquest.last_words(), tallies.CALLS)
    assert (fit.where, fit.counts) == ("train.py:7", (2,))
    inquest(0)
    assert [*inquest.last_words()] == []


def test_living_models_are_told_by_the_line_that_made_them(inquest):
    class Model:
        pass

    make = compile("model = make()\nlives.born(model)", FILE, "exec")
    names = {"make": Model, "lives": inquest.lives[tallies.MODELS]}
    exec(make, names)
    [model] = tally(inquest.last_words(), tallies.MODELS)
    assert (model.where, model.counts) == ("train.py:2", (1,))
    del names["model"]
    assert tally(inquest.last_words(), tallies.MODELS) == []


def test_module_that_was_changed_and_loaded_again_has_its_new_lines(inquest, program):
    inquest(0)
    changed = TEXT.replace(b"def step", b"# one line more\ndef step")
    inquest.files[FILE] = LoadedFile(changed, "train.py")
    exec(compile(changed, FILE, "exec"), program.__dict__)
    for level in range(3):
        program.step()
        _, records = inquest(level * MIB)
    holders = [one for one in told(records, Held).holders if one.is_users]

    assert [site.where for one in holders for site in one.sites] == ["train.py:4"]


def test_text_that_changes_on_the_disk_does_not_matter(inquest, tmp_path):
    """Only what was loaded is ever read."""
    path = tmp_path / "train.py"
    path.write_bytes(TEXT)
    inquest.files[str(path)] = LoadedFile(TEXT, "other.py")
    module = types.ModuleType("changed_on_disk")
    module.__file__ = str(path)
    sys.modules["changed_on_disk"] = module
    exec(compile(TEXT, str(path), "exec"), module.__dict__)
    path.write_text("# something else\n" * 3 + "kept.append(1)\n")
    try:
        for level in range(3):
            module.step()
            _, records = inquest(level * MIB)
    finally:
        del sys.modules["changed_on_disk"]
    [holder] = [one for one in told(records, Held).holders if one.is_users]

    assert [site.where for site in holder.sites] == ["other.py:3"]


def test_calls_from_other_threads_during_a_census_do_no_harm(inquest):
    over = threading.Event()

    def call():
        for number in range(20_000):
            site = Site("fit", FILE, number)
            inquest.calls.counts[site] += 1
            inquest.calls.shapes.setdefault(site, set()).add(number)
            if over.is_set():
                return

    # A callback in Python lets other threads in, as ours does.
    gc.callbacks.append(lambda *_: None)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    thread = threading.Thread(target=call)
    thread.start()
    try:
        for _ in range(10):
            inquest.last_words()
    finally:
        over.set()
        thread.join()
        sys.setswitchinterval(interval)
        gc.callbacks.pop()


LIGHT = """\
import sys
from lowwater.agent.inquest import Inquest
from lowwater.agent.instrumentation.calls import Calls
Inquest({}, Calls(lambda filename: False), {}).last_words()
print([name for name in sys.modules if name.startswith("lowwater.agent.census")])
"""


def test_census_is_loaded_when_it_is_due():
    done = subprocess.run(
        [sys.executable, "-c", LIGHT], capture_output=True, text=True, check=True, timeout=60
    )

    assert done.stdout == "[]\n"
