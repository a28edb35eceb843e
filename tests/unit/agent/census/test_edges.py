"""An edge has the name that the program gave it, read past all code of the program."""

import collections
import functools
import sys
import threading
import types

import pytest

from lowwater.agent.census.edges import ANY_ITEM, attributes, is_name, label, named_parts


class Thing:
    """Something to be referred to."""


THING = Thing()


def everything_is_the_users(kind):
    return True


def nothing_is_the_users(kind):
    return False


class Trainer:
    shared = THING

    def __init__(self):
        self.saved = THING

    def step(self, kept=THING, *, more=None):
        return kept


class Slotted:
    __slots__ = ("empty", "saved")

    def __init__(self):
        self.saved = THING


class Child(Slotted):
    def __init__(self):
        super().__init__()
        self.own = Thing()


def a_module():
    module = types.ModuleType("train")
    module.saved = THING
    return module


def a_closure():
    kept = THING
    return lambda: kept


def a_generator():
    def generate():
        kept = THING
        yield kept

    running = generate()
    next(running)
    return running


def a_coroutine():
    @types.coroutine
    def pause():
        yield

    async def wait():
        kept = THING
        await pause()
        return kept

    running = wait()
    running.send(None)
    return running


def a_local():
    local = threading.local()
    local.saved = THING
    return local


def a_method():
    return types.MethodType(Trainer.step, THING)


class Row(collections.namedtuple("Row", "epoch image")):  # noqa: PYI024 - as users write it
    __slots__ = ()


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (a_module, ".saved"),
        (Trainer, ".saved"),
        (Slotted, ".saved"),
        (Child, ".saved"),
        (lambda: Trainer, ".shared"),
        (a_closure, "closure kept"),
        (lambda: Trainer.step, "default kept"),
        (a_generator, "local kept"),
        (a_coroutine, "local kept"),
        (a_local, ".saved"),
        (a_method, ".__self__"),
        (lambda: functools.partial(print, 1, THING), "argument"),
        (lambda: functools.partial(print, end=THING), "argument end"),
        (lambda: {"x": THING}, "['x']"),
        (lambda: {1: THING}, ANY_ITEM),
        (lambda: {THING: 1}, "key"),
        (lambda: dict.fromkeys(map(str, range(40)), 1) | {"x": THING}, ANY_ITEM),
        (lambda: {"x" * 100: THING}, ANY_ITEM),
        (lambda: [1, THING], ANY_ITEM),
        (lambda: (1, THING), "[1]"),
        (lambda: (1,) * 20 + (THING,), ANY_ITEM),
        (lambda: Row(1, THING), ANY_ITEM),
        (lambda: {THING}, ANY_ITEM),
        (lambda: collections.deque([THING]), ANY_ITEM),
        (lambda: [1, 2], ""),
        (object, ""),
        (lambda: None, ""),
    ],
)
def test_edge_is_named(make, expected):
    parent = make()

    found = label(parent, THING)
    if isinstance(parent, types.CoroutineType):
        parent.close()
    assert found == expected


def test_edges_of_an_exception():
    error = ValueError()
    error.__cause__ = cause = KeyError()
    error.saved = THING
    try:
        raise error
    except ValueError as caught:
        entry = caught.__traceback__
    assert label(error, entry) == ".__traceback__"
    assert label(entry, entry.tb_frame) == ".tb_frame"
    assert label(error, cause) in (".__cause__", ".__context__")
    assert label(error, THING) == ".saved"


def test_local_of_a_frame():
    kept = [THING]

    assert label(sys._getframe(), kept) == "local kept"


def test_attributes_are_read_from_slots_and_dictionaries_of_all_bases():
    child = Child()

    assert dict(attributes(child)) == {"saved": THING, "own": child.own}


class Bomb(BaseException):
    """Not even an `Exception`: whoever runs it ends the test."""


class Counted:
    """All special methods count their calls and raise; `saved` is there all the same."""

    calls = 0

    def explode(self, *_, **__):
        type.__setattr__(Counted, "calls", Counted.calls + 1)
        raise Bomb

    def __init__(self):
        object.__setattr__(self, "saved", THING)

    __getattr__ = __getattribute__ = __setattr__ = explode
    __len__ = __iter__ = __contains__ = __getitem__ = __bool__ = __hash__ = __eq__ = explode
    __repr__ = __str__ = __format__ = __call__ = __sizeof__ = explode
    keys = values = items = explode
    __class__ = property(explode)
    noisy = property(explode)


class CountedList(Counted, list):
    pass


class CountedDict(Counted, dict):
    pass


class CountedTuple(Counted, tuple):  # noqa: SLOT001 - with attributes, as users write them
    pass


class CountedPartial(Counted, functools.partial):
    args = keywords = property(Counted.explode)

    def __init__(self, *_):
        pass


class CountedError(Counted, Exception):
    __traceback__ = __cause__ = __context__ = property(Counted.explode)


class CountedModule(Counted, types.ModuleType):
    def __init__(self):
        types.ModuleType.__init__(self, "odd")
        super().__init__()


class WithDict:
    """Its `__dict__` is a property."""

    __slots__ = ("saved",)

    def __init__(self):
        self.saved = THING

    __dict__ = property(Counted.explode)


class Meta(type):
    def explode(cls, *_):
        Counted.calls += 1
        raise Bomb

    __getattribute__ = __hash__ = __eq__ = __instancecheck__ = explode


@pytest.fixture(autouse=True)
def _nobody_was_called():
    Counted.calls = 0
    yield
    assert Counted.calls == 0


@pytest.mark.parametrize(
    "kind",
    [Counted, CountedList, CountedDict, CountedTuple, CountedError, CountedModule, WithDict],
    ids=lambda kind: kind.__name__,
)
def test_name_is_found_without_running_any_code(kind):
    parent = kind()

    assert label(parent, THING) == ".saved"
    assert any(part is THING for _, part in named_parts(parent, everything_is_the_users))


def test_items_of_the_programs_own_kinds_are_named_without_running_any_code():
    parent = dict.__new__(CountedDict)
    dict.__setitem__(parent, "x", THING)
    assert label(parent, THING) == "['x']"
    parent = list.__new__(CountedList)
    list.append(parent, THING)
    assert label(parent, THING) == ANY_ITEM
    assert label(tuple.__new__(CountedTuple, (THING,)), THING) == ANY_ITEM
    assert label(CountedPartial(print, THING), THING) == "argument"


def test_child_is_told_by_identity_and_never_compared():
    assert label([Counted(), Counted(), THING], THING) == ANY_ITEM
    assert label({"a": Counted(), "b": THING}, THING) == "['b']"


def test_metaclass_is_not_asked():
    hostile = Meta("Hostile", (), {"saved": THING})

    assert label(hostile, THING) == ".saved"
    assert label(type.__call__(hostile), THING) == ""
    assert [*named_parts(type.__call__(hostile), nothing_is_the_users)] == []


def test_object_of_a_library_has_no_parts_that_are_told_apart():
    assert [*named_parts(Trainer(), nothing_is_the_users)] == []
    assert [*named_parts(Counted(), nothing_is_the_users)] == []


def test_few_keys_are_told_apart_and_many_are_not():
    few = {"images": 1, "audio": 2, 3: 4}

    assert [*named_parts(few, nothing_is_the_users)] == [("['images']", 1), ("['audio']", 2)]
    assert [*named_parts(dict.fromkeys(map(str, range(33))), nothing_is_the_users)] == []
    assert [*named_parts({}, nothing_is_the_users)] == []


def test_attributes_of_a_class_of_the_program_are_told_apart():
    found = dict(named_parts(Trainer, lambda kind: kind is Trainer))

    assert found[".shared"] is THING


@pytest.mark.parametrize(
    ("key", "expected"),
    [("loss", True), ("", True), ("x" * 81, False), (7, False), (b"x", False), (None, False)],
)
def test_names_are_short_strings(key, expected):
    assert is_name(key) is expected


def test_string_of_the_programs_own_kind_is_no_name():
    class Text(str):
        __slots__ = ()
        __len__ = __eq__ = __hash__ = __format__ = __repr__ = Counted.explode

    assert not is_name(Text("x"))


def test_huge_key_does_not_become_a_name():
    huge = "x" * 10_000_000

    assert label({huge: THING}, THING) == ANY_ITEM
    assert [*named_parts({huge: THING}, nothing_is_the_users)] == []


def test_empty_cell_is_no_trouble():
    def outer():
        if outer is None:
            missing = 1
        return lambda: missing

    assert label(outer(), THING) == ""


def test_generator_that_has_ended_is_no_trouble():
    running = a_generator()
    running.close()

    assert label(running, THING) == ""
