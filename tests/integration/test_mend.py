"""`mend()` on real TensorFlow and Keras: what is dropped goes, and nothing else changes."""

import json
import os
import shutil
from functools import partial
from pathlib import Path

import pytest

from lowwater.giveback.mend._repairs import REPAIRS

pytestmark = pytest.mark.tensorflow

PROGRAMS = Path(__file__).parent / "programs"
MB = 1_000_000
# As in `programs.warm`: what is computed with oneDNN may differ in the last bit.
WITHOUT_POOL = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "TF_ENABLE_ONEDNN_OPTS": "0"}


def run(programs, name, *arguments, is_warm=False, **options):
    shutil.copy(PROGRAMS / name, programs.folder)
    start = programs.warm if is_warm else partial(programs.plain, env=WITHOUT_POOL)
    done = start(name, *arguments, **options)
    assert done.returncode == 0, done.stderr[-3000:]
    return done


def growth_from_round_two(programs, kind, rounds, **options):
    told = json.loads(run(programs, "build_fit_forget.py", kind, str(rounds), **options).stdout)
    assert told["mended"].count("Mended: ") == len(REPAIRS)
    (first_bytes, first_objects), (last_bytes, last_objects) = told["rounds"][1], told["rounds"][-1]
    return last_bytes - first_bytes, last_objects - first_objects


def test_small_models_leave_nothing(programs):
    grown_bytes, grown_objects = growth_from_round_two(programs, "small", 10)

    assert grown_bytes < MB / 2
    assert grown_objects < 200


@pytest.mark.slow
def test_large_models_leave_nothing(programs):
    grown_bytes, grown_objects = growth_from_round_two(programs, "large", 6, timeout=1200)

    assert grown_bytes < 5 * MB
    assert grown_objects < 200


# The last number: the custom gradients that stay in the registry when all is dropped, for they
# were exported with a graph.
GROUPS = [
    pytest.param(
        "models_with_dense_layers models_with_silu models_in_a_loop_of_ones_own recomputed "
        "replicated".split(),
        0,
        id="models",
    ),
    pytest.param(["models_of_legacy_keras"], 0, marks=pytest.mark.tf_keras, id="tf_keras"),
    pytest.param(
        "functions_traced_before_they_are_differentiated functions_traced_again "
        "functions_inside_functions second_order eager_ones loops_and_conditions forward_mode "
        "compiled_by_xla graphs_and_sessions loops_of_version_one".split(),
        0,
        id="functions and graphs",
    ),
    pytest.param(
        "saved_and_loaded saved_models_of_keras exported_and_imported_again".split(),
        8,
        id="saved",
    ),
]


def answers(programs, mode, cases):
    # Only what is mended first must not find TensorFlow imported.
    is_warm = mode != "first"
    run(programs, "gradient_cases.py", mode, f"{mode}.json", *cases, is_warm=is_warm, timeout=600)
    return json.loads((programs.folder / f"{mode}.json").read_text())


@pytest.mark.parametrize(("cases", "exported"), GROUPS)
def test_what_lives_computes_the_same_to_the_last_bit(programs, cases, exported):
    plain = answers(programs, "plain", cases)
    first, middle = answers(programs, "first", cases), answers(programs, "middle", cases)
    left = [answer.pop("gradients left") for answer in (plain, first, middle)]

    # A string is an exception of the case itself.
    assert [part for parts in plain.values() for part in parts if isinstance(part, str)] == []
    assert [case for case in cases if first[case] != plain[case]] == []
    assert [case for case in cases if middle[case] != plain[case]] == []
    assert left[0] > left[1] == exported
    assert left[0] > left[2]


STATE = """\
    import gc, sys
    import lowwater
    import tensorflow as tf
    from tensorflow.python.framework import ops
    from tensorflow.python.ops import gen_resource_variable_ops as makers

    def traced():
        function = tf.function(lambda x: tf.nn.silu(x) * 2.0)
        function(tf.ones(3))
        return function

    def gradient(function):
        x = tf.ones(3)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = function(x)
        return tape.gradient(y, x).numpy().tolist()

    def state():
        graph, registry = ops.Graph, ops.gradient_registry
        codes = graph._create_op_helper.__code__, graph._as_graph_def.__code__
        entries = registry._registry
        kinds = {*map(type, entries.values())}
        return codes, makers.var_handle_op, [*sys.meta_path], id(entries), kinds
"""


def test_undone_is_as_if_it_had_never_been(programs):
    programs.write(
        "check.py",
        STATE
        + """
    before_mending = traced()
    before = state()
    mended = lowwater.mend()
    print(mended)
    while_mended = traced()
    assert state() != before
    graph = while_mended.get_concrete_function(tf.TensorSpec([3])).graph
    assert hasattr(graph, "_lowwater_gradients")
    mended.undo()
    mended.undo()
    assert state() == before
    assert not hasattr(graph, "_lowwater_gradients")
    gc.collect()
    after = traced()
    assert gradient(before_mending) == gradient(while_mended) == gradient(after)
    """,
    )
    done = programs.warm("check.py")

    assert done.returncode == 0, done.stderr[-3000:]
    assert [line[:13] for line in done.stdout.splitlines()] == ["Mended: LW205", "Mended: LW209"]


def test_loaded_models_and_logged_graphs_leave_nothing(programs):
    """Each round loads a SavedModel with a custom gradient and logs the graph of a function."""
    programs.write(
        "check.py",
        STATE
        + """
    mended = lowwater.mend()
    module = tf.Module()
    module.f = tf.function(tf.nn.silu, input_signature=[tf.TensorSpec([3])])
    tf.saved_model.save(module, "saved")
    writer = tf.summary.create_file_writer("logs")

    def count():
        gc.collect()
        return len(ops.gradient_registry.list())

    counts = []
    for _ in range(4):
        loaded = tf.saved_model.load("saved")
        assert gradient(loaded.f) == gradient(module.f)
        with writer.as_default(step=0):
            tf.summary.graph(traced().get_concrete_function(tf.TensorSpec([3])).graph)
        del loaded
        counts.append(count())
    print(counts[-1] - counts[0])
    """,
    )
    done = programs.warm("check.py")

    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout == "0\n"


UNLIKE = {
    "another release": (
        "tf.__version__ = '2.99.0'",
        "TensorFlow 2.99.0; the repair was tested on 2.16 to 2.21 only",
    ),
    "two registries": (
        "ops._gradient_registry = type(ops.gradient_registry)('other')",
        "there are two gradient registries",
    ),
    "another table": (
        "ops.gradient_registry._registry = type('Table', (dict,), {})(table)",
        "the gradient registry is not a dict",
    ),
    "another operation": (
        "custom_gradient._graph_mode_decorator = lambda f, args, kwargs: None",
        "custom gradients are not carried by IdentityN",
    ),
    "other names": (
        "custom_gradient.generate_name = lambda: 'Gradient'",
        "custom gradients have other names",
    ),
    "another way to make operations": (
        "ops.Graph._create_op_helper = lambda self, graph, op: None",
        "operations are not created as expected",
    ),
    "another lookup": (
        "type(ops.gradient_registry).lookup = lambda self, name: None",
        "the registry does not accept a weak entry",
    ),
    "part of it is gone": (
        "del ops.Graph._as_graph_def",
        "AttributeError: type object 'Graph' has no attribute '_as_graph_def'",
    ),
}


def test_library_that_looks_otherwise_is_left_alone(programs):
    """One process for all: what is refused leaves nothing behind."""
    program = """\
    import sys
    import lowwater
    import tensorflow as tf
    from tensorflow.python.framework import ops
    from tensorflow.python.ops import custom_gradient
    kinds = (tf, ops, ops.Graph, custom_gradient, type(ops.gradient_registry))

    for change in {changes!r}:
        kept = [(kind, dict(vars(kind))) for kind in kinds]
        table = ops.gradient_registry._registry
        exec(change)
        with lowwater.mend() as mended:
            print(str(mended).splitlines()[0])
        for kind, before in kept:
            for name, value in before.items():
                if vars(kind).get(name) is not value:
                    setattr(kind, name, value)
        ops.gradient_registry._registry = table
    print(str(lowwater.mend()).splitlines()[0])
    """
    changes = [change for change, _ in UNLIKE.values()]
    programs.write("check.py", program.format(changes=changes))
    done = programs.warm("check.py")
    *said, at_last = done.stdout.splitlines()

    assert done.returncode == 0, done.stderr[-3000:]
    assert at_last.startswith("Mended: LW205 gradient registry (TensorFlow ")
    for line, (_, reason) in zip(said, UNLIKE.values(), strict=True):
        assert line.startswith("Not mended: LW205 gradient registry (TensorFlow ")
        assert line.endswith(f"{reason})")


def test_threads_train_while_others_are_mended(programs):
    """Each thread trains a model of its own; one more mends and undoes all the while."""
    program = """\
    import gc, sys, threading, time
    import keras, lowwater
    import numpy as np
    x = np.ones((16, 4), "float32")
    models = []
    for seed in range(3):
        keras.utils.set_random_seed(seed)
        model = keras.Sequential([keras.layers.Dense(4, "silu"), keras.layers.Dense(1)])
        model.build((None, 4))
        model.compile("sgd", "mse")
        models.append(model)
    losses, is_over = {}, threading.Event()

    def train(number):
        for size in (16, 8, 5, 3, 2):
            for _ in range(3):
                losses.setdefault(number, []).append(
                    float(models[number].train_on_batch(x[:size], x[:size, :1] * number)).hex()
                )

    def mend():
        while not is_over.is_set():
            with lowwater.mend():
                time.sleep(0.05)
            gc.collect()

    threads = [threading.Thread(target=train, args=[number]) for number in range(3)]
    mender = threading.Thread(target=mend)
    if sys.argv[1] == "mended":
        mender.start()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    is_over.set()
    print(sorted(losses.items()))
    """
    programs.write("train.py", program)
    plain, mended = programs.warm("train.py", "plain"), programs.warm("train.py", "mended")

    assert mended.stdout == plain.stdout != ""
    assert mended.returncode == 0, mended.stderr[-3000:]


LOOP = """\
    import keras, numpy as np
    keras.utils.set_random_seed(1)
    x = np.ones((64, 8), "float32")
    for trial in range(9):
        model = keras.Sequential([keras.layers.Dense(32, "silu"), keras.layers.Dense(1)])
        model.compile("adam", "mse")
        print(float(model.fit(x, x[:, :1], verbose=0).history["loss"][0]).hex())
"""


def test_script_is_mended_without_a_change(programs):
    programs.write("train.py", LOOP)
    plain, leaking = programs.plain("train.py"), programs.watch("train.py")
    mended = programs.watch("--mend", "train.py")

    assert plain.stdout == leaking.stdout == mended.stdout
    assert leaking.kind == "leak"
    assert leaking.report["mended"] == []
    assert mended.report["verdict"]["is_leak"] is not True
    assert [(one["code"], one["state"]) for one in mended.report["mended"]] == [
        ("LW205", "applied"),
        ("LW209", "applied"),
    ]
    assert "Library repairs" in mended.stderr
    assert "Mended: LW205 gradient registry (TensorFlow 2." in mended.stderr
    assert "Library repairs" not in leaking.stderr


def test_script_that_mends_itself_may_be_mended_as_well(programs):
    programs.write("train.py", "import lowwater\nprint(repr(lowwater.mend()))\nimport keras\n")
    run = programs.watch("--mend", "train.py")

    assert run.stdout == "<Mended: LW205 waiting, LW209 waiting>\n"
    assert [one["state"] for one in run.report["mended"]] == ["applied", "applied"]
