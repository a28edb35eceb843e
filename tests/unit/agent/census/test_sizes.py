"""An object counts for the bytes that it holds, once, and is never asked by running its code."""

import array
import ctypes
import gc
import io
import mmap
import sys
from collections import OrderedDict, defaultdict, deque

import numpy as np
import pytest

from lowwater.agent.census.sizes import Sizes
from lowwater.isolation.parcel import SharedMemory

MIB = 1 << 20
# The object beside its buffer: type, counts, pointers, the collector's own.
HEADER = 1024


def size(thing, sizes=None):
    return (sizes or Sizes()).of(type(thing))(thing)


def total(*things):
    """What the objects hold together: a buffer counts once."""
    sizes = Sizes()
    return sum(size(thing, sizes) for thing in things)


def a_buffer_of(expected):
    return pytest.approx(expected, abs=HEADER)


class Structured(np.ndarray):
    """A subclass of the program's, of which nothing is to be believed."""

    calls = 0

    def lie(self):
        Structured.calls += 1
        return 7

    nbytes = property(lie)
    size = property(lie)
    base = property(lie)
    dtype = property(lie)
    shape = property(lie)
    __array_interface__ = property(lie)
    __sizeof__ = lie
    __len__ = lie

    def __array_finalize__(self, other):
        Structured.calls += 1


@pytest.mark.parametrize(
    "owner",
    [
        pytest.param(np.zeros((1024, 256), "float32"), id="float32"),
        pytest.param(np.zeros(MIB, bool), id="bool"),
        pytest.param(np.asfortranarray(np.zeros((1024, 128))), id="by columns"),
        pytest.param(np.zeros(1 << 16, [("a", "i8"), ("b", "f8")]), id="records"),
        pytest.param(np.zeros(1 << 17, object), id="objects"),
        pytest.param(np.zeros((1 << 17,), "datetime64[s]"), id="dates"),
        pytest.param(np.zeros(1 << 18, "U1"), id="text"),
    ],
)
def test_an_array_counts_for_its_nbytes(owner):
    assert owner.nbytes == MIB
    assert size(owner) == a_buffer_of(owner.nbytes)


def test_a_view_counts_for_nothing_beside_its_owner():
    owner = np.zeros(MIB, np.uint8)
    view = owner[10:]
    views = [view, view[::2], owner.reshape(1024, 1024), owner.view("float32"), owner[:0]]

    assert all(size(one) <= HEADER for one in views)
    assert total(owner, *views) == a_buffer_of(MIB + len(views) * 100)


def test_a_broadcast_array_does_not_count_for_what_it_seems_to_hold():
    assert size(np.broadcast_to(np.zeros(10), (100_000, 10))) <= HEADER


def test_a_lying_subclass_is_not_asked():
    owner = np.zeros(MIB, np.uint8).view(Structured)
    lonely = Structured((MIB,), np.uint8)
    Structured.calls = 0

    assert size(owner) <= HEADER  # the owner is the plain array below
    assert size(lonely) == a_buffer_of(MIB)
    assert Structured.calls == 0


def test_a_mapped_file_is_no_memory_of_the_program(tmp_path):
    mapped = np.memmap(tmp_path / "data", np.uint8, "w+", shape=(MIB,))
    beside = np.frombuffer(mmap.mmap(-1, MIB), np.uint8)

    assert size(mapped) <= HEADER
    assert size(mapped[10:]) <= HEADER
    assert size(beside) <= HEADER


def test_array_that_an_isolated_call_has_sent_is_memory_of_the_program():
    sent = np.frombuffer(SharedMemory(-1, MIB), np.uint8)

    assert size(sent) == a_buffer_of(MIB)


@pytest.mark.parametrize(
    "owner",
    [
        pytest.param(b"x" * MIB, id="bytes"),
        pytest.param(bytearray(MIB), id="bytearray"),
        pytest.param(array.array("b", bytes(MIB)), id="array.array"),
        pytest.param(io.BytesIO(bytearray(MIB)), id="BytesIO"),
    ],
)
def test_an_array_over_the_buffer_of_another_object_counts_once(owner):
    buffer = owner.getbuffer() if isinstance(owner, io.BytesIO) else owner
    seen = np.frombuffer(buffer, np.uint8)

    held = sys.getsizeof(owner)  # some keep room for more

    assert size(owner) == a_buffer_of(held)
    assert total(owner, seen, seen[1:]) == a_buffer_of(held)
    assert total(seen, owner) == a_buffer_of(held)


def test_two_arrays_over_one_foreign_buffer_count_once():
    foreign = (ctypes.c_char * MIB)()
    first, second = np.frombuffer(foreign, np.uint8), np.frombuffer(foreign, np.float32)

    assert total(first, second) == a_buffer_of(MIB)


@pytest.mark.parametrize(
    "thing",
    [
        "x" * MIB,
        "é" * MIB,
        b"x" * MIB,
        bytearray(MIB),
        array.array("d", [0.0] * 1000),
        io.BytesIO(b"x" * MIB),
        [None] * 1000,
        (None,) * 1000,
        dict.fromkeys(range(1000)),
        set(range(1000)),
        frozenset(range(1000)),
        deque(range(1000)),
        OrderedDict.fromkeys(range(1000)),
        defaultdict(list, {1: 2}),
        1 << 10_000,
        1.5,
        object(),
        len,
        type,
        None,
    ],
    ids=lambda thing: type(thing).__name__,
)
def test_what_python_knows_best_is_asked_of_python(thing):
    assert size(thing) == pytest.approx(sys.getsizeof(thing), abs=16)


def test_a_memoryview_counts_for_nothing_beside_its_owner():
    assert size(memoryview(bytearray(MIB))) <= HEADER


def test_a_subclass_of_a_container_counts_for_its_items():
    class Memory(list):
        __len__ = __iter__ = __getitem__ = None

    assert size(Memory([None] * 1000)) >= 8000


class Bomb(Exception):
    """Raised by whatever is not to be run."""


class Counting:
    """An object whose every special method counts its calls, and raises."""

    calls = 0

    def explode(self, *_):
        type.__setattr__(Counting, "calls", Counting.calls + 1)
        raise Bomb

    __sizeof__ = __len__ = __repr__ = __str__ = __eq__ = __hash__ = __bool__ = explode
    __getattr__ = __getattribute__ = __iter__ = __contains__ = __call__ = explode
    __class__ = nbytes = dtype = shape = base = property(explode)


class OddlySized:
    """Its size is asked of something that is not a plain function."""

    calls = 0

    class Asked:
        def __get__(self, instance, owner):
            OddlySized.calls += 1
            raise Bomb

    __sizeof__ = Asked()


class HostileMeta(type):
    calls = 0

    def explode(cls, *_):
        HostileMeta.calls += 1
        raise Bomb

    __getattribute__ = __instancecheck__ = __subclasscheck__ = explode


@pytest.fixture(autouse=True)
def _counters_at_zero():
    Counting.calls = OddlySized.calls = 0
    HostileMeta.calls = 0


def test_no_method_of_the_program_is_run():
    assert 16 <= size(Counting()) <= HEADER
    assert 16 <= size(OddlySized()) <= HEADER
    assert (Counting.calls, OddlySized.calls) == (0, 0)


def test_no_metaclass_of_the_program_is_run():
    hostile = HostileMeta("Hostile", (), {})()

    assert 16 <= size(hostile) <= HEADER
    assert HostileMeta.calls == 0


def test_a_size_that_cannot_be_told_is_the_size_of_the_object_alone():
    class Broken(np.ndarray):
        pass

    sizes = Sizes()
    measure = sizes._once_per_buffer(lambda _: 1 // 0, 96)

    assert measure(np.zeros(3).view(Broken)) == 96


def test_sizes_keep_no_object_alive():
    import weakref

    class Thing:
        pass

    sizes, thing, owner = Sizes(), Thing(), np.zeros(10)
    gone = [weakref.ref(thing), weakref.ref(owner)]
    size(thing, sizes)
    size(owner, sizes)
    del thing, owner

    assert [one() for one in gone] == [None, None]


def test_a_million_strings_are_measured_in_a_moment():
    words = [str(number) for number in range(1_000_000)]
    before = gc.get_count()

    assert Sizes().total(str, words) == sum(map(sys.getsizeof, words))
    assert gc.get_count()[2] == before[2]


def test_objects_of_one_size_are_measured_once(monkeypatch):
    """There are a hundred thousand functions in a Keras program."""

    class Point:
        __slots__ = ("x",)

    points, asked = [Point() for _ in range(100)], []
    monkeypatch.setattr(sys, "getsizeof", lambda thing: asked.append(thing) or 40)

    assert Sizes().total(Point, points) == 100 * 40
    assert len(asked) == 1


@pytest.mark.parametrize("things", [[(), (1, 2)], [b"", b"long"], [[], [1, 2, 3]]])
def test_objects_of_several_sizes_are_measured_one_by_one(things):
    assert Sizes().total(type(things[0]), things) == sum(map(sys.getsizeof, things))


@pytest.mark.filterwarnings("ignore")  # of the framework's imports
@pytest.mark.tensorflow
class TestTensorFlow:
    """Tensors, variables, and what is made of them."""

    @pytest.fixture(scope="class")
    def tf(self):
        return pytest.importorskip("tensorflow")

    def test_a_tensor_counts_for_its_elements(self, tf):
        for dtype in (tf.float32, tf.float64, tf.bfloat16, tf.bool, tf.int8, tf.complex64):
            tensor = tf.zeros((1024, 256), dtype)

            assert size(tensor) == a_buffer_of(1024 * 256 * dtype.size), dtype

    def test_an_empty_tensor_and_a_scalar_are_small(self, tf):
        assert size(tf.zeros((0, 1000))) <= HEADER
        assert size(tf.constant(1.0)) <= HEADER

    def test_a_string_tensor_counts_at_least_for_its_elements(self, tf):
        assert size(tf.constant(["x" * 100] * 1000)) >= 24_000

    def test_a_variable_counts_for_its_elements_in_whatever_order_it_is_met(self, tf):
        variable = tf.Variable(tf.zeros((1024, 256)))

        assert total(variable, variable.handle) == a_buffer_of(MIB)
        assert total(variable.handle, variable) == a_buffer_of(MIB)

    def test_a_keras_variable_holds_a_variable(self, tf):
        import keras

        variable = keras.Variable(np.zeros((1024, 256), "float32"))

        assert total(variable, variable.value) == a_buffer_of(MIB)

    def test_ragged_and_sparse_tensors_hold_tensors(self, tf):
        ragged = tf.RaggedTensor.from_row_splits(tf.zeros(1 << 18), [0, 10, 1 << 18])
        sparse = tf.sparse.from_dense(np.ones((256, 256), "float32"))

        assert total(ragged, ragged.values, ragged.row_splits) == a_buffer_of(MIB)
        held = (sparse.indices, sparse.values, sparse.dense_shape)
        assert total(sparse, *held) == a_buffer_of(256 * 256 * (16 + 4))

    def test_an_array_made_of_a_tensor_holds_its_own_bytes(self, tf):
        assert size(tf.zeros((1024, 256)).numpy()) == a_buffer_of(MIB)

    def test_a_symbolic_tensor_and_a_graph_hold_no_elements(self, tf):
        with tf.Graph().as_default() as graph:
            symbolic = tf.zeros((1024, 256))

            assert size(symbolic) <= HEADER
            assert size(graph) <= HEADER


@pytest.mark.filterwarnings("ignore")
@pytest.mark.tensorflow  # the lane that has the frameworks; without the mark it ran in none
class TestJax:
    @pytest.fixture
    def jnp(self, with_jax):
        return pytest.importorskip("jax.numpy")

    def test_an_array_counts_for_its_nbytes(self, jnp):
        assert size(jnp.zeros((1024, 256))) == a_buffer_of(MIB)

    def test_an_array_that_numpy_has_seen_counts_once(self, jnp):
        held = jnp.zeros((1024, 256))
        seen = np.asarray(held)

        assert total(held, seen) == a_buffer_of(MIB)
        assert total(seen, held) == a_buffer_of(MIB)

    def test_a_deleted_array_holds_nothing(self, jnp):
        held = jnp.zeros((1024, 256))
        held.delete()

        assert size(held) <= HEADER


@pytest.mark.filterwarnings("ignore")
@pytest.mark.slow  # torch is large: only the benchmarks install it
class TestTorch:
    @pytest.fixture(scope="class")
    def torch(self):
        return pytest.importorskip("torch")

    def test_a_tensor_counts_for_its_nbytes(self, torch):
        held = torch.zeros((1024, 256))

        assert size(held) == a_buffer_of(held.nbytes)

    def test_a_parameter_counts_for_its_nbytes(self, torch):
        held = torch.nn.Parameter(torch.zeros((1024, 256)))

        assert size(held) == a_buffer_of(held.nbytes)

    def test_a_view_and_its_base_count_once(self, torch):
        held = torch.zeros((1024, 256))
        row = held[3]

        assert total(held, row) == a_buffer_of(MIB)
