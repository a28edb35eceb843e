"""What an object refers to is found, also where the collector is not told; no code is run."""

import gc
import io
import threading
import weakref

import numpy as np
import pytest

from lowwater.agent.census.references import (
    LEAVES,
    NUMBERS,
    OPEN,
    References,
    thread_locals,
    unwrapped,
)

FROM_HERE = References(lambda thing: True)
FROM_A_LIBRARY = References(lambda thing: False)


def parts(thing, references=FROM_HERE):
    return [one for some in references.of(type(thing), [thing]) for one in some]


def refers(thing, part, references=FROM_HERE):
    return any(one is part for one in parts(thing, references))


class Thing:
    """Something to be referred to."""


THING = Thing()


def a_closure(part):
    def inner():
        return part

    return inner


def an_instance(part):
    instance = Thing()
    instance.part = part
    return instance


def a_slotted(part):
    class Slotted:
        __slots__ = ("empty", "part")

    instance = Slotted()
    instance.part = part
    return instance


def an_array_of_objects(part):
    cells = np.empty((2, 3), object)
    cells[1, 1] = part
    return cells


def a_record_of_objects(part):
    rows = np.empty(2, [("number", "i8"), ("part", object)])
    rows["part"][1] = part
    return rows


@pytest.mark.parametrize(
    "holder",
    [
        pytest.param([THING], id="list"),
        pytest.param((THING,), id="tuple"),
        pytest.param({"x": THING}, id="dict"),
        pytest.param({THING: 1}, id="key"),
        pytest.param({THING}, id="set"),
        pytest.param(an_instance(THING), id="instance"),
        pytest.param(a_slotted(THING), id="slot"),
        pytest.param(type("Made", (), {"part": THING}), id="class"),
        pytest.param(lambda part=THING: part, id="default"),
        pytest.param(lambda *, part=THING: part, id="keyword default"),
        pytest.param(an_array_of_objects(THING), id="array of objects"),
        pytest.param(THING.__init__, id="method"),
    ],
)
def test_part_is_found(holder):
    assert refers(holder, THING)


def test_part_in_a_record_of_an_array_is_found():
    assert any(THING in row for row in parts(a_record_of_objects(THING)) if type(row) is tuple)


def test_variable_of_a_closure_is_found_in_a_librarys_function_too():
    [cell] = parts(a_closure(THING), FROM_A_LIBRARY)

    assert cell.cell_contents is THING


def test_defaults_of_a_librarys_function_do_not_matter():
    assert parts(lambda part=THING: part, FROM_A_LIBRARY) == []


def test_globals_and_code_of_a_function_do_not_matter():
    assert not refers(a_closure, globals())
    assert not refers(a_closure, a_closure.__code__)


def test_owner_of_a_view_is_found():
    owner = np.zeros((4, 4))

    assert refers(owner[1:], owner)
    assert refers(owner.reshape(16)[::2], owner)


def test_buffer_below_an_array_is_found():
    buffer = bytearray(100)
    [view] = parts(np.frombuffer(buffer, np.uint8))
    [managed] = gc.get_referents(view)

    assert gc.get_referents(managed) == [buffer]


@pytest.mark.parametrize("wrap", [staticmethod, classmethod, property])
def test_function_in_a_method_of_a_class_is_found(wrap):
    def function():
        pass

    assert unwrapped(wrap(function)) is function
    assert refers(type("Made", (), {"method": wrap(function)}), function)


def test_long_texts_that_are_keys_are_found():
    """The collector is not told of keys that are strings."""
    keys = [f"a key of its own {number}" for number in range(2_000)]
    many, few = dict.fromkeys(keys, 1), dict.fromkeys(keys[:10], 1)

    assert not any(part is keys[0] for part in gc.get_referents(many))
    assert refers(many, keys[0])
    assert not refers(few, keys[0])


def test_values_of_all_threads_are_found_without_running_init():
    made = []

    class Local(threading.local):
        def __init__(self):
            made.append(threading.get_ident())

    local, looked, go_on = Local(), threading.Event(), threading.Event()
    local.mine = THING
    theirs = Thing()

    def work():
        local.theirs = theirs
        looked.set()
        go_on.wait()

    thread = threading.Thread(target=work)
    thread.start()
    looked.wait()
    count = len(made)
    found = [value for names in thread_locals([local]) for value in names.values()]
    both = refers(local, THING), refers(local, theirs)
    # A thread that has not used it yet.
    asking = threading.Thread(target=lambda: [*thread_locals([local])])
    asking.start()
    asking.join()
    go_on.set()
    thread.join()

    assert THING in found
    assert both == (True, True)
    assert len(made) == count


def test_bytes_of_a_file_in_memory_are_its_own():
    file = io.BytesIO()
    file.write(bytes(10_000))

    assert not [part for part in parts(file) if type(part) is bytes and len(part) > 100]


def test_values_of_an_instance_are_found_whether_it_has_a_dictionary_or_not():
    plain, asked = an_instance(THING), an_instance(THING)
    vars(asked)

    assert refers(plain, THING)
    assert refers(asked, THING)
    assert FROM_HERE.attribute_dicts(Thing, [asked])[:1] in ([vars(asked)], [])


def test_looking_does_not_give_an_instance_a_dictionary():
    """An object with three attributes of its own, one of them a dictionary."""
    instance = Thing()
    instance.first, instance.second, instance.third = {"x": 1}, [2], 3
    before = {id(part) for part in gc.get_referents(instance)}
    parts(instance)

    assert {id(part) for part in gc.get_referents(instance)} == before


def test_dictionary_that_is_an_attribute_is_not_taken_for_the_attributes():
    instance = Thing()
    instance.cache = {"x": THING}

    assert all(made is not instance.cache for made in FROM_HERE.attribute_dicts(Thing, [instance]))
    assert refers(instance, instance.cache)


class Bomb(Exception):
    pass


class Hostile(np.ndarray):
    calls = 0

    def explode(self, *_):
        Hostile.calls += 1
        raise Bomb

    __array_finalize__ = None
    __len__ = __iter__ = __getitem__ = __getattr__ = explode
    base = dtype = flat = property(explode)


def test_no_code_of_an_array_of_the_programs_own_kind_is_run():
    class Finalized(Hostile):
        def __array_finalize__(self, other):
            Hostile.calls += 1

    cells = an_array_of_objects(THING).copy().view(Finalized)
    Hostile.calls = 0
    [owner] = [part for part in parts(cells) if type(part) is np.ndarray]

    assert refers(owner, THING)
    assert Hostile.calls == 0


def test_weak_references_hold_nothing():
    assert not refers(weakref.ref(THING), THING)
    assert not refers(weakref.proxy(THING), THING)
    assert not refers(weakref.WeakValueDictionary({1: THING}), THING)


def test_dead_weak_references_are_no_trouble():
    thing = Thing()
    dead = [weakref.ref(thing), weakref.proxy(thing)]
    del thing

    assert not [part for one in dead for part in parts(one) if type(part) is Thing]


def test_kinds_are_apart():
    assert NUMBERS < LEAVES
    assert not OPEN & LEAVES
