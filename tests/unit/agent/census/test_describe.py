"""An object is described without being asked, and has the line of the program or none."""

import functools
import heapq
import string
import sys
import types
import weakref
from collections import deque

import numpy as np
import pytest

from lowwater.agent.census.describe import (
    about,
    code_of,
    file_of,
    line_of_frame,
    step,
    type_name,
    where,
)

HERE = "train.py"


class Lines:
    """Knows this file alone, and that every class of it is on line 7."""

    def shown(self, filename):
        return HERE if filename == __file__ else None

    def class_line(self, filename, qualname):
        return f"{HERE}:7" if filename == __file__ else None

    def called_at(self, filename, line):
        return "train()"


LINES = Lines()


@pytest.fixture(autouse=True)
def _this_file_is_a_module(monkeypatch):
    """pytest does not always put a test's module where its classes say that they are from."""
    module = types.ModuleType(__name__)
    module.__file__ = __file__
    monkeypatch.setitem(sys.modules, __name__, module)


class Trainer:
    def step(self):
        pass


def plain():
    pass


@functools.wraps(plain)
def decorated():
    pass


@functools.cache
def cached(n):
    return n


def generate():
    yield sys._getframe()


async def wait():
    pass


def line_of(function):
    return f"{HERE}:{function.__code__.co_firstlineno}"


@pytest.mark.parametrize(
    ("thing", "expected"),
    [
        ([1, 2], "2 items"),
        ([1], "1 item"),
        ([None] * 1_234_567, "1,234,567 items"),
        ({}, "0 items"),
        ({1: 2}, "1 item"),
        ((), "0 items"),
        ({1}, "1 item"),
        (frozenset(), "0 items"),
        (deque([1]), "1 item"),
        ("abc", "length 3"),
        (b"x" * 10_000, "length 10,000"),
        (bytearray(3), "length 3"),
        (np.zeros((4096, 256), "float32"), "float32 (4096, 256)"),
        (np.array(1.5), "float64 ()"),
        (np.array(["abc"]), "str96 (1,)"),
        (np.zeros(2, [("a", "i4")]), "void32 (2,)"),
        (types.ModuleType("train"), "train"),
        (int, "int"),
        (Trainer, f"{__name__}.Trainer"),
        (plain, "plain"),
        (decorated, "plain"),
        (cached, "cached"),
        (Trainer().step, "Trainer.step"),
        (Trainer(), ""),
        (3, ""),
        (None, ""),
        (functools.partial(plain), ""),
    ],
)
def test_what_can_be_said(thing, expected):
    assert about(thing) == expected


def test_line_of_a_function_is_where_it_begins_decorators_included():
    assert where(plain, LINES) == line_of(plain)
    assert where(cached, LINES) == f"{HERE}:{cached.__wrapped__.__code__.co_firstlineno}"
    assert where(decorated, LINES) == line_of(plain)
    assert where(Trainer().step, LINES) == line_of(Trainer.step)


def test_line_of_an_object_and_of_its_class_is_that_of_the_class():
    assert where(Trainer(), LINES) == f"{HERE}:7"
    assert where(Trainer, LINES) == f"{HERE}:7"


def test_line_of_a_frame_and_of_a_traceback_is_where_they_stand():
    frame = next(generate())
    assert where(frame, LINES) == f"{HERE}:{generate.__code__.co_firstlineno + 1}"
    try:
        raise ValueError  # noqa: TRY301 - this line
    except ValueError as error:
        entry = error.__traceback__
    assert where(entry, LINES) == f"{HERE}:{entry.tb_lineno}"


def asked_by(frame):
    return frame.f_code.co_filename, line_of_frame(frame, LINES), step("", frame, LINES).about


def test_line_of_a_librarys_frame_is_where_the_program_called_it():
    class Asking(dict):
        def __missing__(self, key):
            told.append(asked_by(sys._getframe(1)))
            return key

    told = []
    string.Template("$x").substitute(Asking())
    called_at = sys._getframe().f_code.co_firstlineno + 7

    assert told == [(string.__file__, f"{HERE}:{called_at}", "train()")]


def test_generator_that_feeds_a_library_is_known_while_it_runs():
    def numbers(told):
        told.append(step("", sys._getframe(), LINES).kinds)
        yield 1

    pulled_by_library, pulled_by_program = [], []
    heapq.nsmallest(1, numbers(pulled_by_library))
    next(numbers(pulled_by_program))

    assert [*pulled_by_library, *pulled_by_program] == [("frame", "generator"), ("frame",)]


def test_code_of_what_waits():
    generator, coroutine = generate(), wait()

    assert code_of(generator) is generate.__code__
    assert code_of(coroutine) is wait.__code__
    assert where(generator, LINES) == line_of(generate)
    coroutine.close()


@pytest.mark.parametrize("thing", [3, None, "x", [], int, np.zeros(3), types.ModuleType("x")])
def test_what_is_not_the_programs_has_no_line(thing):
    assert where(thing, LINES) is None


def made(text, name, **names):
    namespace = {"__name__": "a_notebook_cell", **names}
    exec(text, namespace)
    return namespace[name]


def test_what_exec_has_made_has_no_line():
    assert where(made("def f(): pass", "f"), LINES) is None
    assert where(made("class C: pass", "C")(), LINES) is None
    assert where(type("Typed", (), {"__module__": "nowhere"})(), LINES) is None


def test_class_that_says_it_is_from_a_module_that_is_none(monkeypatch):
    for module in (None, 42, types.SimpleNamespace(__file__=__file__)):
        monkeypatch.setitem(sys.modules, "odd_module", module)

        assert file_of(type("Odd", (), {"__module__": "odd_module"})) is None


@pytest.mark.parametrize("odd", [None, 42, ["x"], object(), {}, b"x"])
def test_class_with_an_odd_module_has_a_name_and_no_line(odd):
    kind = type("Odd", (), {})
    kind.__module__ = odd

    assert type_name(kind) == "Odd"
    assert where(kind(), LINES) is None


def test_full_names():
    assert type_name(int) == "int"
    assert type_name(deque) == "collections.deque"
    assert type_name(np.ndarray) == "numpy.ndarray"
    assert type_name(Trainer) == f"{__name__}.Trainer"


def test_step_tells_all_classes_of_an_object():
    class Special(Trainer):
        pass

    told = step(".net", Special(), LINES)

    assert told.edge == ".net"
    assert told.kinds == (told.type, f"{__name__}.Trainer")
    assert told.type.endswith("Special")


class Bomb(BaseException):
    """Not even an `Exception`: whoever runs it ends the test."""


class Counted:
    calls = 0

    def explode(self, *_, **__):
        type.__setattr__(Counted, "calls", Counted.calls + 1)
        raise Bomb

    __getattr__ = __getattribute__ = __len__ = __iter__ = __bool__ = __hash__ = __eq__ = explode
    __repr__ = __str__ = __format__ = __call__ = __sizeof__ = explode
    __class__ = __wrapped__ = shape = dtype = __code__ = property(explode)


class CountedArray(np.ndarray):
    shape = dtype = size = property(Counted.explode)
    __len__ = __repr__ = __getattr__ = Counted.explode


class CountedMeta(type):
    __getattribute__ = __hash__ = __eq__ = __repr__ = __instancecheck__ = Counted.explode


class CountedText(str):
    __slots__ = ()
    __str__ = __eq__ = __hash__ = __format__ = Counted.explode


def counted_things():
    kind = CountedMeta("Odd", (), {})
    texts = type("Named", (), {"__module__": CountedText("x")})

    def wrapper():
        pass

    wrapper.__wrapped__ = Counted()
    return {
        "object": Counted(),
        "array": np.zeros((2, 3), "float32").view(CountedArray),
        "instance of an odd class": type.__call__(kind),
        "odd class": kind,
        "class with an odd text": texts(),
        "function around an object": wrapper,
        "proxy": weakref.proxy(counted_things),
    }


@pytest.mark.parametrize("name", counted_things())
def test_no_code_of_the_program_is_run(name):
    thing = counted_things()[name]
    Counted.calls = 0
    told = step(".x", thing, LINES)

    assert Counted.calls == 0
    assert told.type
    if name == "array":
        assert told.about == "float32 (2, 3)"


def test_dead_proxy_is_no_trouble():
    thing = Trainer()
    proxy = weakref.proxy(thing)
    del thing
    told = step("", proxy, LINES)

    assert (told.about, told.where) == ("", None)


def test_function_that_wraps_itself_is_no_trouble():
    def odd():
        pass

    odd.__wrapped__ = odd

    assert about(odd).endswith("odd")
    assert code_of(odd) is odd.__code__


@pytest.mark.filterwarnings("ignore")
@pytest.mark.tensorflow
def test_tensors_and_functions_of_tensorflow():
    tf = pytest.importorskip("tensorflow")

    @tf.function
    def train_step(x):
        return x + 1

    assert about(tf.zeros((2, 3))) == "float32 (2, 3)"
    assert about(tf.Variable([1, 2])) == "int32 (2,)"
    assert about(train_step).endswith("train_step")
    assert where(train_step, LINES).startswith(f"{HERE}:")
    with tf.Graph().as_default():
        unknown = tf.compat.v1.placeholder(tf.float32, None)
        assert about(unknown) == ""


@pytest.mark.slow  # torch is large: only the benchmarks install it
def test_tensor_of_torch_that_was_not_detached_is_told_with_its_graph():
    torch = pytest.importorskip("torch")
    weight = torch.nn.Parameter(torch.ones(3))

    assert about((weight * 2).sum()) == "float32 () with its graph"
    assert about((weight * 2).sum().detach()) == about(torch.tensor(1.0)) == "float32 ()"
    assert about(weight) == "float32 (3,)"
