"""A census looks at everything, runs nothing, and leaves nothing behind."""

import gc
import sys
import textwrap
import threading
import tracemalloc
import types
import weakref

import pytest

from lowwater.agent.census.budget import Budget
from lowwater.agent.census.census import CensusTaker
from lowwater.agent.census.growth_site import Sources

MIB = 1 << 20

BOMBS = """
    import functools, threading, types, weakref

    calls = 0
    class Bomb(BaseException): pass

    def explode(*_, **__):
        global calls
        calls += 1
        raise Bomb

    SPECIAL = '''
        __sizeof__ __len__ __length_hint__ __repr__ __str__ __format__ __eq__ __ne__ __lt__ __hash__
        __bool__ __getattr__ __getattribute__ __iter__ __next__ __contains__ __getitem__ __call__
        __dir__ __reduce__ __reduce_ex__ __getstate__ __index__ __int__ __float__ __enter__
        __array__ __array_interface__ __fspath__ keys values items nbytes shape dtype size base
        '''.split()
    bombs = {name: explode for name in SPECIAL}
    bombs["__class__"] = property(explode)
    bombs["__dict__"] = property(explode)
    bombs["numpy"] = bombs["name"] = property(explode)

    class Meta(type):
        __mro__ = __flags__ = __dict__ = property(explode)
    for name in ("__hash__ __eq__ __repr__ __getattribute__ __instancecheck__ "
                 "__subclasscheck__ __len__ __iter__ __bool__ __call__").split():
        setattr(Meta, name, explode)
    class Plain: pass
    BASES = (Plain, list, dict, set, tuple, str, bytes, int, Exception, threading.local)
    MADE = [(type("Evil", (base,), dict(bombs)), base, ()) for base in BASES]
    MADE += [(type("Evil", (functools.partial,), dict(bombs)), functools.partial, (print,))]
    MADE += [(type.__new__(Meta, "Worse", (base,), dict(bombs)), base, ()) for base in BASES[:5]]
    KINDS = [kind for kind, base, arguments in MADE]

    def evil():
        for kind, base, arguments in MADE:
            yield base.__new__(kind, *arguments)
        yield from KINDS
        yield types.SimpleNamespace(__class__=5)
        yield weakref.proxy(Alive)
        dead = Plain()
        yield weakref.proxy(dead)
        yield weakref.ref(dead)
    class Alive: pass
    kept = []
    def round():
        kept.append([*evil(), bytearray(100_000)])
    """


def test_objects_that_explode_when_touched_are_diagnosed_and_not_touched(a_program_among_all):
    program = a_program_among_all(BOMBS)
    holder = program.holder()

    assert program.module.calls == 0
    assert holder.steps[holder.container].edge == ".kept"
    assert holder.counts == (3, 6, 9)
    assert holder.sizes_bytes[-1] - holder.sizes_bytes[0] > 600_000
    assert holder.sites[0].code == "kept.append([*evil(), bytearray(100_000)])"


def test_objects_that_explode_are_no_trouble_where_they_are_variables_or_attributes(a_program):
    program = a_program(
        BOMBS
        + """
    things = [*evil()]
    globals().update({f"evil_{n}": thing for n, thing in enumerate(things)})
    class Holder: pass
    holder = Holder()
    for n, thing in enumerate(things):
        setattr(holder, f"evil_{n}", thing)
        setattr(Holder, f"shared_{n}", thing)
    def default(first=things[0], *, second=things[1]): pass
    small = dict(zip("abcdefgh", things))
    del things
    saved = []
    def round():
        local = [*evil()]
        saved.append((saved, bytearray(100_000), KINDS, holder))
    """
    )
    holder = program.holder()

    assert program.module.calls == 0
    assert holder.steps[holder.container].edge == ".saved"


ALL_ROOTS = {
    "module": "kept = []\nround = lambda: kept.append(bytearray(100_000))",
    "class": "class C: kept = []\nround = lambda: C.kept.append(bytearray(100_000))",
    "library module": """
        import string
        string.kept_by_a_test = []
        round = lambda: string.kept_by_a_test.append(bytearray(100_000))
        """,
    "library class": """
        import argparse
        argparse.Namespace.kept_by_a_test = []
        round = lambda: argparse.Namespace.kept_by_a_test.append(bytearray(100_000))
        """,
    "library object": """
        import logging
        logging.root.kept_by_a_test = []
        round = lambda: logging.root.kept_by_a_test.append(bytearray(100_000))
        """,
    "library registry": """
        import atexit, copyreg, types
        keep = copyreg.dispatch_table
        def round():
            kind = type("Made", (), {"data": bytearray(100_000)})
            keep[kind] = print
        """,
}


@pytest.fixture
def _libraries_as_before():
    yield
    import argparse
    import copyreg
    import logging
    import string

    for place in (string, argparse.Namespace, logging.root):
        if hasattr(place, "kept_by_a_test"):
            del place.kept_by_a_test
    for kind in [one for one in copyreg.dispatch_table if one.__name__ == "Made"]:
        del copyreg.dispatch_table[kind]


@pytest.mark.usefixtures("_libraries_as_before")
@pytest.mark.parametrize("text", ALL_ROOTS.values(), ids=ALL_ROOTS)
def test_growth_is_found_from_every_root(a_program_among_all, text):
    program = a_program_among_all(text)
    for _ in range(3):
        for _ in range(3):
            program.module.round()
        seen = program.census(MIB)
    grown = sum(holder.grown_bytes for holder in seen.holders)

    assert grown == pytest.approx(600_000, rel=0.2)


@pytest.mark.usefixtures("_libraries_as_before")
def test_class_of_a_library_is_named_though_thousands_of_others_are_on_the_same_path(
    a_program_among_all,
):
    program = a_program_among_all(ALL_ROOTS["library class"])
    for _ in range(3):
        for _ in range(3):
            program.module.round()
        seen = program.census(MIB)
    [holder] = seen.holders

    owner, kept = holder.steps[holder.container - 1 : holder.container + 1]
    assert owner.about == "argparse.Namespace"
    assert kept.edge == ".kept_by_a_test"


def test_our_own_objects_are_never_told(a_program_among_all, tmp_path):
    """The agent grows too: its recording, its counts. It is not the program's."""
    from lowwater.agent.instrumentation.calls import Calls
    from lowwater.agent.journal import Journal
    from lowwater.agent.observer import Observer
    from lowwater.agent.readings import Readings
    from lowwater.recording.writer import Writer

    program = a_program_among_all("def round(): pass")
    calls = Calls(lambda filename: True)
    journal = Journal(Writer(str(tmp_path / "run.lw")))
    observer = Observer(journal, Readings([], journal))
    observer.hoard = []
    heartbeat = types.MethodType(lambda *_: None, observer)
    gc.callbacks.append(heartbeat)
    program.module.ours = [observer, calls, calls.counter("fit")]
    try:
        for _ in range(3):
            for number in range(5_000):
                calls.counts[f"{number} {len(calls.counts)}"] = 1
            observer.hoard.append(bytearray(MIB))
            seen = program.census(MIB)
    finally:
        gc.callbacks.remove(heartbeat)
        observer.finish()

    told = [step for holder in seen.holders for step in holder.steps]
    assert not [step for step in told if "lowwater" in step.type or "lowwater" in step.about]
    assert seen.holders == ()


class Thing:
    pass


def test_program_can_drop_everything_after_a_census(a_program):
    program = a_program("""
        class Thing:
            pass
        kept = []
        def round():
            thing = Thing()
            thing.itself = [Thing()]
            kept.append(thing)
        """)
    program.holders()
    gone = [weakref.ref(thing) for thing in program.module.kept]
    gone += [weakref.ref(thing.itself[0]) for thing in program.module.kept]
    gone.append(weakref.ref(program.module.Thing))
    gc.disable()
    try:
        program.module.kept.clear()
        assert [one() for one in gone[:-1]] == [None] * (len(gone) - 1)
        del program.module.Thing
        gc.collect()
        assert gone[-1]() is None
    finally:
        gc.enable()


def test_function_can_drop_its_variables_after_a_census(a_program):
    program = a_program("""
        import weakref
        class Thing: pass
        def train(census):
            thing = Thing()
            gone = weakref.ref(thing)
            def inner():
                return thing
            other = [Thing()]
            gone_too = weakref.ref(other[0])
            census(); census()
            del thing, other
            return gone(), gone_too()
        """)

    assert program.module.train(program.census) == (None, None)


def test_nothing_stays_when_a_census_fails(a_program, monkeypatch):
    import lowwater.agent.census.census as census_module

    program = a_program("class Thing: pass\nkept = [Thing()]")
    program.census()
    monkeypatch.setattr(census_module, "compare", lambda *_: 1 // 0)
    gone = weakref.ref(program.module.kept[0])
    gc.disable()
    try:
        with pytest.raises(ZeroDivisionError):
            program.census()
        program.module.kept.clear()
        assert gone() is None
    finally:
        gc.enable()


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, MemoryError, RuntimeError])
@pytest.mark.parametrize("was_on", [True, False])
def test_collector_is_as_before_however_a_census_ends(a_program, error, was_on):
    program = a_program("class Thing: pass\nkept = [Thing()]")
    thresholds = gc.get_threshold()
    (gc.enable if was_on else gc.disable)()

    def look_at(objects):
        assert not gc.isenabled()
        raise error

    try:
        with pytest.raises(error):
            program.taker.take(0, look_at, lambda kind: False)
        assert gc.isenabled() is was_on
        program.census()
        assert gc.isenabled() is was_on
        assert gc.get_threshold() == thresholds
        assert gc.garbage == []
    finally:
        gc.enable()
    gone = weakref.ref(program.module.kept[0])
    program.module.kept.clear()
    assert gone() is None


def test_census_leaves_no_cycles_and_few_objects(a_program_among_all):
    program = a_program_among_all("kept = []\ndef round(): kept.append(bytearray(100_000))")
    for _ in range(2):
        program.module.round()
        program.census(MIB)
    program.module.round()
    gc.collect()
    before = len(gc.get_objects())
    gc.disable()
    try:
        program.census(MIB)
        assert gc.collect() == 0
    finally:
        gc.enable()

    assert len(gc.get_objects()) - before < 2_000


def test_what_is_remembered_of_a_census_is_small(a_program_among_all):
    program = a_program_among_all("kept = []\ndef round(): kept.append(bytearray(100_000))")
    program.census(MIB)
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        program.module.round()
        program.census(MIB)
        gc.collect()
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert after - before < 1_500_000


def test_program_goes_on_while_other_threads_change_everything(a_program):
    program = a_program("""
        import threading
        class Box: pass
        box, table, rows, over = Box(), {}, [], threading.Event()
        def churn():
            number = 0
            while not over.is_set():
                number += 1
                setattr(box, f"x{number % 50}", [number])
                setattr(Box, f"y{number % 50}", {number: []})
                globals()[f"z{number % 50}"] = [number]
                table[f"{number % 100}"] = (number, [])
                table.pop(f"{(number * 7) % 100}", None)
                rows.append([number])
                del rows[: len(rows) // 2]
        """)
    threads = [threading.Thread(target=program.module.churn) for _ in range(2)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    for thread in threads:
        thread.start()
    try:
        for _ in range(10):
            assert program.census(MIB).objects > 0
    finally:
        program.module.over.set()
        for thread in threads:
            thread.join()
        sys.setswitchinterval(interval)


def test_objects_of_wanted_kinds_are_shown_while_they_live(a_program):
    program = a_program("class Wanted: pass\nkept = [Wanted(), Wanted()]")
    wanted, shown = program.module.Wanted, []
    program.taker.take(0, lambda things: shown.append(len(things)), lambda kind: kind is wanted)

    assert shown == [2]


def test_modules_that_are_none_or_odd_are_no_trouble(a_program_among_all, monkeypatch):
    class Lazy(types.ModuleType):
        def __getattribute__(self, name):
            raise AssertionError(name)

    for name, thing in {"odd_none": None, "odd_int": 3, "odd_lazy": Lazy("odd_lazy")}.items():
        monkeypatch.setitem(sys.modules, name, thing)
    unready = types.ModuleType("odd_unready")
    unready.__dict__.clear()
    monkeypatch.setitem(sys.modules, "odd_unready", unready)
    program = a_program_among_all("import sys\nlazy = sys.modules['odd_lazy']\nkept = []")

    assert program.census().objects > 1000


def test_file_whose_text_is_not_known_has_no_line():
    sources = Sources()
    taker = CensusTaker(sources)
    module = types.ModuleType("unread")
    module.__file__ = "/home/me/unread.py"
    sys.modules["unread"] = module
    sources.add(module.__file__, b"", "unread.py")
    try:
        module.kept = []
        for level in range(3):
            module.kept.append([bytearray(100_000)])
            seen = taker.take(level * MIB, lambda things: None, lambda kind: False)
    finally:
        del sys.modules["unread"]
    [holder] = [one for one in seen.holders if one.is_users]

    assert holder.sites == ()
    assert [step.where for step in holder.steps] == [None] * len(holder.steps)


KEPT = """
    class Layer: pass
    Layer.__module__ = "{library}"
    kept = []
    def round():
        kept.append((Layer(), bytearray(1 << 20)))
    """


@pytest.mark.parametrize(
    ("library", "grown_mib", "is_enough"),
    [("train", 3, True), ("train", 4, False), ("keras.src.layers", 3, False)],
)
def test_libraries_are_passed_over_where_data_of_the_program_is_all_that_grew(
    a_program, library, grown_mib, is_enough
):
    """What Keras made may be held by Keras as well; and what is not explained is to be found."""
    program = a_program(KEPT.format(library=library))
    program.module.round()
    first = program.census()
    for _ in range(3):
        program.module.round()
    second = program.census(grown_mib * MIB)

    assert first.found.objects_bytes is not None
    assert (second.found.objects_bytes is None) is is_enough
    [holder] = [one for one in second.holders if one.is_users]
    assert holder.steps[holder.container].edge == ".kept"
    assert holder.counts == (1, 4)


LISTS = """
    kept, others = [], [bytearray(1 << 20) for _ in range({others})]
    def round():
        {grows}.append(bytearray(1 << 20))
    """


def censuses_after(program, *levels_mib):
    """Censuses of a program that is said to have risen by so much, after as many rounds."""
    before = 0
    for level in levels_mib:
        for _ in range(level - before):
            program.module.round()
        before = level
        yield program.taker.take(
            level * MIB,
            lambda objects: None,
            lambda kind: False,
            Budget(clock=lambda: 0.0),
            risen_bytes=level * MIB,
        )


def test_first_census_passes_over_libraries_where_data_of_the_program_may_be_all_that_rose(
    a_program,
):
    """To walk over all that libraries hold is nine tenths of a census."""
    first, second = censuses_after(a_program(LISTS.format(others=0, grows="kept")), 4, 8)

    assert first.found.objects_bytes is None
    assert second.found.objects_bytes is None
    [holder] = second.holders
    assert holder.steps[holder.container].edge == ".kept"
    assert holder.counts == (4, 8)


def test_tensor_that_notes_its_shape_is_data_as_before(a_program):
    """TensorFlow makes the shape when it is first asked for, perhaps between two censuses."""
    program = a_program(
        """
        class EagerTensor: pass
        class TensorShape: pass
        EagerTensor.__module__ = "tensorflow.python.framework.ops"
        TensorShape.__module__ = "tensorflow.python.framework.tensor_shape"
        kept = []
        def round():
            tensor = EagerTensor()
            tensor.bytes = bytearray(1 << 20)
            kept.append(tensor)
        def ask():
            for tensor in kept:
                tensor.shape = TensorShape()
        """
    )
    censuses = censuses_after(program, 4, 8)
    first = next(censuses)
    program.module.ask()
    second = next(censuses)

    assert first.found.objects_bytes is None
    assert second.found.objects_bytes is None
    [holder] = second.holders
    assert holder.counts == (4, 8)


@pytest.mark.parametrize("others", [0, 20])
def test_first_census_looks_at_libraries_where_no_data_of_the_program_is_as_large_as_the_rise(
    a_program, others
):
    import decimal

    text = LISTS.format(others=others, grows="decimal.kept_by_a_test")
    decimal.kept_by_a_test = []
    try:
        [first] = censuses_after(a_program("import decimal\n" + textwrap.dedent(text)), 4)
    finally:
        del decimal.kept_by_a_test

    assert first.found.objects_bytes is not None


def test_data_that_is_as_large_as_the_rise_by_chance_costs_one_census_and_no_cause(
    a_program_among_all,
):
    import decimal

    text = LISTS.format(others=5, grows="decimal.kept_by_a_test")
    decimal.kept_by_a_test = []
    try:
        program = a_program_among_all("import decimal\n" + textwrap.dedent(text))
        first, second, third = censuses_after(program, 4, 8, 12)
    finally:
        del decimal.kept_by_a_test

    assert (first.found.objects_bytes, first.found.starts_over) == (None, True)
    assert second.found.objects_bytes is not None
    assert second.found.starts_over
    assert [holder.counts for holder in third.holders if "kept_by_a_test" in edges_of(holder)] == [
        (8, 12)
    ]


def edges_of(holder):
    return "".join(step.edge for step in holder.steps)
