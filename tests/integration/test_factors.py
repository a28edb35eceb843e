"""What single factors do to a real framework, seen from inside of a program."""

import json

import pytest

# Stands before each program: one factor, made as the agent makes it.
MADE = """
    import json, sys
    from lowwater.diagnose.change import Change
    from lowwater.diagnose.factors import find_factor

    notes = []
    find_factor("{key}").apply(Change(lambda *said: notes.append(said)), "")
"""


@pytest.fixture
def told(programs):
    """Runs a program with a factor, and gives what it prints as JSON at its end."""

    def tell(key, program, **env):
        text = MADE.format(key=key) + program + "\n    assert not notes, notes\n"
        done = programs.plain(programs.write("train.py", text).name, env={**programs.env, **env})
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout.splitlines()[-1])

    return tell


@pytest.mark.tensorflow
def test_one_batch_for_loops_over_a_data_set_and_none_for_a_library(told):
    seen = told(
        "one-batch",
        """
    import tensorflow as tf

    taken = []

    def numbers():
        for number in range(5):
            taken.append(number)
            yield number

    spec = tf.TensorSpec((), tf.int32)
    unknown = tf.data.Dataset.from_generator(numbers, output_signature=spec).shuffle(5, seed=1)
    known = tf.data.Dataset.range(3)
    passes = []
    for epoch in range(4):
        passes.append([int(number) for number in unknown])
    counts = [len(one) for one in passes], len({*passes[2], *passes[3]}), len(taken)
    plain = [[int(number) for number in known], [*map(int, known.as_numpy_iterator())]]
    endless = [int(number) for number, _ in zip(known.repeat(), range(4))]
    print(json.dumps([counts, plain, endless]))
    """,
    )

    counts, plain, endless = seen
    # The first pass counts; then one item is taken, for which the shuffle takes all.
    assert counts == [[5, 5, 5, 5], 1, 5 + 5]
    assert plain == [[0, 0, 0], [0, 1, 2]]
    assert endless == [0, 0, 0, 0]


@pytest.mark.tensorflow
def test_one_batch_for_fit_is_as_long_and_takes_the_data_once(told):
    [steps, taken, kinds] = told(
        "one-batch",
        """
    import numpy as np, keras, tensorflow as tf

    taken = []

    def batches():
        for number in range(5):
            taken.append(number)
            yield np.full((4, 2), number, "float32"), np.zeros((4, 1), "float32")

    class Rows(keras.utils.PyDataset):
        def __len__(self):
            return 3

        def __getitem__(self, index):
            return [np.full((4, 2), index, "float32")], np.zeros((4, 1), "float32")

    spec = tf.TensorSpec((4, 2)), tf.TensorSpec((4, 1))
    dataset = tf.data.Dataset.from_generator(batches, output_signature=spec)

    class Sees(keras.layers.Layer):
        def call(self, x):
            tf.py_function(lambda x: seen.append(float(x[0, 0])), [x], [])
            return x

    model = keras.Sequential([keras.Input((2,)), Sees(), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    steps, kinds = [], []
    for data in (dataset, dataset, Rows()):
        for _ in range(2):
            seen = []
            model.fit(data, verbose=0)
            steps.append(len(seen))
            kinds.append(len({*seen}))
    print(json.dumps([steps, len(taken), kinds]))
    """,
    )

    assert steps == [5, 5, 5, 5, 3, 3]
    # All fits of one line have one batch.
    assert taken == 5
    assert kinds == [1] * 6


@pytest.mark.tensorflow
def test_one_item_leaves_the_rest_of_the_pipeline_as_it_is(told):
    seen = told(
        "generator",
        """
    import tensorflow as tf

    taken = []

    def numbers():
        for number in range(4):
            taken.append(number)
            yield number

    def doubled(number):
        taken.append("doubled")
        return 2 * number

    dataset = tf.data.Dataset.from_generator(
        numbers, output_signature=tf.TensorSpec((), tf.int32)
    )
    dataset = dataset.map(lambda n: n + 1).map(lambda n: tf.py_function(doubled, [n], tf.int32))
    passes = [[int(number) for number in dataset] for _ in range(3)]
    print(json.dumps([passes, taken]))
    """,
    )

    [passes, taken] = seen
    # The first result of the function stands for all of one shape.
    assert passes == [[2, 2, 2, 2]] * 3
    assert sorted(map(str, taken)) == ["0", "0", "0", "1", "2", "3", "doubled"]


@pytest.mark.tensorflow
@pytest.mark.parametrize("library", ["keras", pytest.param("tf_keras", marks=pytest.mark.tf_keras)])
def test_fresh_model_trains_as_the_model_itself_would(told, library):
    losses = [
        told(
            key,
            f"""
    import numpy as np, {library} as keras

    keras.utils.set_random_seed(1)
    x = np.random.default_rng(0).normal(size=(64, 4)).astype("float32")
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3), keras.layers.Dense(1)])
    model.compile("adam", lambda true, said: (true - said) ** 2, metrics=["mae"])
    losses = []
    for _ in range(3):
        history = model.fit(x, x[:, :1], epochs=2, shuffle=False, verbose=0)
        losses += [*history.history["loss"], *model.evaluate(x, x[:, :1], verbose=0)]
    print(json.dumps([losses, model.history is history]))
    """,
        )
        for key in ("fresh-model", "mended")
    ]

    [fresh, is_left], [plain, _] = losses
    assert fresh == pytest.approx(plain, rel=1e-5)
    assert is_left


@pytest.mark.tensorflow
def test_line_adds_an_operation_once_from_the_first_run_of_the_graph_on(told):
    counts, values, variables = told(
        "operations",
        """
    import tensorflow.compat.v1 as tf

    tf.disable_v2_behavior()
    # One line makes several variables before anything has run.
    weights = [tf.Variable(float(number)) for number in range(3)]
    x = tf.placeholder(tf.float32, [4])
    counts, values = [], []
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for number in range(4):
            session.run(tf.assign(weights[0], weights[0] + 1.0))
            last = session.run(x[1:3] * float(number), {x: [1.0, 2.0, 3.0, 4.0]})
            counts.append(len(tf.get_default_graph().get_operations()))
            values.append(float(session.run(weights[0])))
        kept = [float(one) for one in session.run(weights)]
    print(json.dumps([counts, values, kept]))
    """,
    )

    assert len({*counts[1:]}) == 1
    # What it computes goes on.
    assert values == [1.0, 2.0, 3.0, 4.0]
    assert variables == [4.0, 1.0, 2.0]


@pytest.mark.tensorflow
def test_tape_that_stays_open_forgets_and_records_on_and_one_of_a_round_is_left_alone(programs):
    text = """
    import json
    from lowwater.diagnose.change import Change
    from lowwater.diagnose.factors import find_factor

    notes = []
    change = Change(lambda *said: notes.append(said))
    find_factor("tapes").apply(change, json.dumps(["iteration", "train.py:3"]))
    import tensorflow as tf

    x = tf.Variable(3.0)
    tape = tf.GradientTape(persistent=True)
    tape.__enter__()
    old = x * x
    gradients = []
    for number in range(3):
        change.pass_boundary("iteration", "train.py:3")
        new = x * x
        with tf.GradientTape() as own:
            also = x * x
        gradients.append(float(own.gradient(also, x)))
        with tape.stop_recording():
            gradients.append(float(tape.gradient(new, x)))
    with tape.stop_recording():
        is_forgotten = tape.gradient(old, x) is None
    print(json.dumps([gradients, is_forgotten, notes]))
    """
    done = programs.plain(programs.write("train.py", text).name)

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == [[6.0] * 6, True, []]
