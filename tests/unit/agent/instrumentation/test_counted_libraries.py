"""Counters in functions that look as those of TensorFlow 2.21 do; no framework is needed."""

from contextlib import ExitStack
from types import SimpleNamespace

import pytest

from lowwater.agent.instrumentation import libraries, lifecycles
from lowwater.agent.instrumentation._placement import place_all
from lowwater.agent.instrumentation.calls import Calls
from lowwater.giveback.mend.eager_cache import _without_running_numbers
from lowwater.model import tallies


class Context:
    def _internal_operation_seed(self):
        return 7

    def _set_global_seed(self, seed):
        self._seed = seed


class TextFileInitializer:
    pass


class StaticHashTable:
    def __init__(self, initializer, default_value, name=None, experimental_is_anonymous=False):
        self.initializer = initializer


class MutableHashTable:
    def __init__(self, key_dtype, value_dtype, default_value, experimental_is_anonymous=False):
        self.key_dtype = key_dtype


class Function:
    def __init__(self, python_function, name, jit_compile=None):
        self.name = name
        self._jit_compile = jit_compile

    def _initialize(self, args, kwds):
        return args, kwds


class Model:
    pass


def _variable_handle_from_shape_and_dtype(shape, dtype, shared_name, name, graph_mode):
    return name


def convert_to_eager_tensor(value, ctx, dtype=None):
    return value


def maybe_promote_tensors(*tensors, force_same_dtype=False):
    return tensors


def eager_py_func(func=None, inp=None, name=None):
    return func


def numpy_function(func=None, inp=None, stateful=True, name=None):
    return func


MAKERS = SimpleNamespace(var_handle_op=lambda **_: None)
LIBRARY = SimpleNamespace(
    __name__="tensorflow.python",
    gen_resource_variable_ops=MAKERS,
    Context=Context,
    TextFileInitializer=TextFileInitializer,
    StaticHashTable=StaticHashTable,
    MutableHashTable=MutableHashTable,
    Function=Function,
    _variable_handle_from_shape_and_dtype=_variable_handle_from_shape_and_dtype,
    convert_to_eager_tensor=convert_to_eager_tensor,
    maybe_promote_tensors=maybe_promote_tensors,
    eager_py_func=eager_py_func,
    numpy_function=numpy_function,
)
FUNCTIONS = (
    Context._internal_operation_seed,
    Context._set_global_seed,
    StaticHashTable.__init__,
    MutableHashTable.__init__,
    Function._initialize,
    _variable_handle_from_shape_and_dtype,
    convert_to_eager_tensor,
    maybe_promote_tensors,
    eager_py_func,
    numpy_function,
)


def place(calls, library, notes, undo):
    for placements in libraries.placements().values():
        place_all(library, lambda found, make=placements: make(found, calls), undo, notes.append)


@pytest.fixture
def calls():
    counted, notes = Calls(is_users=__file__.__eq__), []
    with ExitStack() as undo:
        place(counted, LIBRARY, notes, undo)
        assert notes == []
        yield counted


def count_of(calls, name):
    return sum(count for site, count in calls.counts.items() if site.name == name)


def test_seeds_that_are_drawn_and_set_are_counted(calls):
    context = Context()
    context._set_global_seed(42)

    assert [context._internal_operation_seed() for _ in range(3)] == [7, 7, 7]
    assert count_of(calls, tallies.SEED_DRAWN) == 3
    assert count_of(calls, tallies.SEED_SET) == 1


def test_variable_is_counted_once_by_name_shape_and_type(calls):
    for name in ("kernel", "kernel", "bias"):
        _variable_handle_from_shape_and_dtype((2, 3), "float32", None, name, graph_mode=False)
    _variable_handle_from_shape_and_dtype((9, 9), "float32", None, "bias", graph_mode=False)

    assert count_of(calls, tallies.VARIABLE_NAMED) == 3


def test_variables_that_share_a_kernel_since_it_is_mended_are_counted_once(calls, monkeypatch):
    mended = _without_running_numbers(lambda **_: None, "anonymous")
    monkeypatch.setattr(MAKERS, "var_handle_op", mended)
    for name in ("dense/kernel", "dense_1/kernel", "dense_2/kernel"):
        _variable_handle_from_shape_and_dtype((2, 3), "float32", None, name, graph_mode=False)
    assert count_of(calls, tallies.VARIABLE_NAMED) == 1

    mended.is_on = False
    _variable_handle_from_shape_and_dtype((2, 3), "float32", None, "dense_3/kernel", False)
    assert count_of(calls, tallies.VARIABLE_NAMED) == 2


def test_variables_of_graphs_make_no_kernels(calls):
    _variable_handle_from_shape_and_dtype((2, 3), "float32", None, "kernel", graph_mode=True)

    assert count_of(calls, tallies.VARIABLE_NAMED) == 0


def test_python_numbers_are_counted_once_wherever_they_come_in(calls):
    convert_to_eager_tensor(0.5, None)
    maybe_promote_tensors([1.0], 0.5)
    maybe_promote_tensors([1.0], 0.25)

    assert count_of(calls, tallies.NUMBER) == 2


@pytest.mark.parametrize("value", [[0.5], "0.5", None, True, 1j])
def test_what_is_not_a_python_number_is_let_through(calls, value):
    assert convert_to_eager_tensor(value, None) is value
    assert count_of(calls, tallies.NUMBER) == 0


def test_numbers_are_forgotten_before_they_are_too_many(calls, monkeypatch):
    monkeypatch.setattr(libraries, "_MOST_REMEMBERED", 8)
    for number in range(100):
        convert_to_eager_tensor(float(number), None)

    assert count_of(calls, tallies.NUMBER) == 100


def test_tables_with_a_name_of_their_own_are_counted(calls):
    StaticHashTable(object(), -1)
    MutableHashTable("string", "int64", -1)

    assert count_of(calls, tallies.TABLE) == 2


def test_tables_that_are_freed_or_shared_are_innocent(calls):
    StaticHashTable(object(), -1, experimental_is_anonymous=True)
    StaticHashTable(TextFileInitializer(), -1)
    MutableHashTable("string", "int64", -1, experimental_is_anonymous=True)

    assert count_of(calls, tallies.TABLE) == 0


def test_functions_that_xla_compiles_are_counted_and_no_others(calls):
    Function(print, "never called", jit_compile=True)
    Function(print, "step", jit_compile=True)._initialize((), {})
    for unset in (None, False):
        Function(print, "step", jit_compile=unset)._initialize((), {})

    assert count_of(calls, tallies.XLA) == 1


def test_python_functions_for_tensorflow_are_counted(calls):
    eager_py_func(print)
    numpy_function(print)

    assert count_of(calls, "py_function") == count_of(calls, "numpy_function") == 1


def test_everything_is_taken_back():
    before, notes = [function.__code__ for function in FUNCTIONS], []
    with ExitStack() as undo:
        place(Calls(is_users=__file__.__eq__), LIBRARY, notes, undo)
        during = [function.__code__ for function in FUNCTIONS]

    assert notes == []
    assert all(one is not other for one, other in zip(before, during, strict=True))
    assert [function.__code__ for function in FUNCTIONS] == before


def test_library_that_looks_otherwise_becomes_a_note():
    notes = []
    with ExitStack() as undo:
        place(Calls(is_users=bool), SimpleNamespace(__name__="tensorflow.next"), notes, undo)

    assert len(notes) == len(libraries.placements())
    assert all(note.startswith("no boundaries from tensorflow.next: ") for note in notes)


def test_models_that_were_made_are_counted_though_they_are_gone():
    calls = Calls(is_users=__file__.__eq__)
    models = lifecycles.Lives(calls, counted_as=tallies.MODEL)
    for _ in range(3):
        model = Model()
        models.born(model)
        models.born(model)
    del model

    assert (count_of(calls, "Model"), len(models)) == (3, 0)


def test_other_lives_are_not_among_the_calls():
    calls = Calls(is_users=__file__.__eq__)
    session = Model()
    lifecycles.Lives(calls).born(session)

    assert not calls.counts
