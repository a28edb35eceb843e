"""Ways in which a custom gradient is needed later; run as `gradient_cases.py MODE FILE CASE...`.

Each case is a generator: at every `yield` it hands out numbers, and others are built, trained and
dropped before it goes on. MODE says when `mend()` is called: never (`plain`), before TensorFlow
is imported (`first`), or at the first `yield` of each case and undone at the last (`middle`).
"""

import gc
import json
import sys
import tempfile

MODE, ANSWER, *CASES = sys.argv[1:]

if MODE == "first":
    import lowwater

    assert lowwater.mend().waiting

import keras  # noqa: E402 - mended before they come in
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

v1 = tf.compat.v1
X = np.random.default_rng(0).random((32, 4)).astype("float32")
Y = X.sum(axis=1, keepdims=True)


@tf.custom_gradient
def cubed(x):
    """Its gradient uses a tensor of the forward pass, and is not the true one."""
    kept = tf.square(x) + 0.25
    return x**3, lambda dy: dy * kept * 3.0


@tf.custom_gradient
def reversed_gradient(x):
    """Its gradient uses no tensor of the forward pass, so that it works in any graph."""
    return tf.identity(x), lambda dy: -dy


def gradient(function, x):
    x = tf.constant(x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(function(x))
    return tape.gradient(y, x)


def model_of(layers=keras.layers, models=keras.models, activation="silu"):
    model = models.Sequential([layers.Dense(8, activation=activation), layers.Dense(1)])
    model.compile("adam", "mse")
    return model


def fitted(model, **options):
    history = model.fit(X, Y, verbose=0, shuffle=False, **options).history["loss"]
    return [*history, *(float(w.sum()) for w in model.get_weights())]


def models_with_dense_layers():
    model = model_of(activation="relu")
    yield fitted(model)
    yield fitted(model, epochs=2)
    yield fitted(model, batch_size=5)
    model.compile("sgd", "mae")
    yield fitted(model)


def models_with_silu():
    model = model_of()
    yield model.predict(X, verbose=0)
    yield fitted(model)
    yield [model.train_on_batch(X[:n], Y[:n]) for n in (3, 7)]
    yield gradient(model, X)
    copy = keras.models.clone_model(model)
    copy.set_weights(model.get_weights())
    copy.compile("adam", "mse")
    yield fitted(copy)


def models_of_legacy_keras():
    import tf_keras

    tf_keras.utils.set_random_seed(2)
    model = model_of(tf_keras.layers, tf_keras.models, activation="swish")
    yield model.predict(X, verbose=0)
    yield fitted(model)
    yield fitted(model, batch_size=5)
    yield gradient(model, X)


def models_in_a_loop_of_ones_own():
    model, optimizer = model_of(), keras.optimizers.Adam(0.01)

    @tf.function(reduce_retracing=True)
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(x, training=True) - y) ** 2)
        variables = model.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
        return loss

    for size in (32, 32, 7, 5):
        yield step(tf.constant(X[:size]), tf.constant(Y[:size]))


def functions_traced_before_they_are_differentiated():
    function = tf.function(lambda x: cubed(cubed(x) + reversed_gradient(x)))
    yield function(X)
    yield gradient(function, X)
    concrete = function.get_concrete_function(tf.TensorSpec([None, 4]))
    yield concrete(tf.constant(X))
    function = None
    yield gradient(concrete, X)


def functions_traced_again():
    function = tf.function(cubed)
    for size in (2, 3, 4):
        yield function(X[:size])
        yield gradient(function, X[:size])
    yield gradient(function, X[:2])


def functions_inside_functions():
    inner = tf.function(cubed)
    outer = tf.function(lambda x: inner(x) * 2.0)
    yield inner(X)
    yield outer(X)
    inner = None
    yield gradient(outer, X)
    outermost = tf.function(lambda x: gradient_in_graph(outer, x))
    yield outermost(X)
    outer = None
    yield gradient(outermost, X)


def gradient_in_graph(function, x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = function(x)
    return tape.gradient(y, x)


def second_order():
    @tf.custom_gradient
    def op(x):
        def first(dy):
            @tf.custom_gradient
            def inner(x):
                return 3.0 * x, lambda ddy: ddy * 0.5

            return dy * inner(x)

        return x**2, first

    function = tf.function(op)
    first_order = tf.function(lambda x: gradient_in_graph(function, x))
    yield first_order(X)
    yield gradient(first_order, X)
    yield gradient(lambda x: gradient_in_graph(op, x), X)
    with tf.GradientTape(persistent=True) as tape:
        x = tf.constant(X[0])
        tape.watch(x)
        y = function(x)
    yield tape.jacobian(y, x)
    yield tape.gradient(y, x)


def eager_ones():
    x = tf.Variable(X)
    with tf.GradientTape(persistent=True) as tape:
        y = cubed(cubed(x)) + reversed_gradient(x)
    yield y
    yield tape.gradient(y, x)
    yield tape.gradient(y, x)


def recomputed():
    layers = [keras.layers.Dense(4, activation="silu") for _ in range(2)]
    for layer in layers:
        layer.build((None, 4))
    blocks = [tf.recompute_grad(layer) for layer in layers]

    def forward(x):
        for block in blocks:
            x = block(x)
        return x

    function = tf.function(forward)
    yield function(tf.constant(X))
    yield gradient(function, X)
    yield gradient(function, X[:3])
    yield gradient(forward, X)


def loops_and_conditions():
    @tf.function
    def looped(x):
        for _ in tf.range(3):
            x = cubed(x) * 0.5 if tf.reduce_sum(x) > 0.0 else reversed_gradient(x)
        return x

    @tf.function
    def mapped(x):
        return tf.map_fn(cubed, x) + tf.vectorized_map(cubed, x)

    scanned = tf.function(lambda x: tf.scan(lambda a, b: cubed(a) * 0.1 + b, x))
    functions = (looped, mapped, scanned)
    yield [function(X) for function in functions]
    yield [gradient(function, X) for function in functions]
    yield [gradient(function, -X) for function in functions]
    twice = tf.function(lambda x: gradient_in_graph(looped, x))
    yield twice(X)
    yield gradient(twice, X)


def forward_mode():
    function = tf.function(cubed)
    yield function(X)
    x = tf.constant(X)
    with tf.autodiff.ForwardAccumulator(x, tf.ones_like(x)) as accumulator:
        y = function(x)
    yield gradient(function, X)
    yield accumulator.jvp(y)


def compiled_by_xla():
    function = tf.function(cubed, jit_compile=True)
    yield function(X)
    yield gradient(function, X)


def saved_and_loaded():
    class Module(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec([None, 4])])
        def inner(self, x):
            return cubed(x)

        @tf.function(input_signature=[tf.TensorSpec([None, 4])])
        def __call__(self, x):
            return self.inner(x) + tf.nn.silu(x) + reversed_gradient(x)

    with tempfile.TemporaryDirectory() as folder:
        module = Module()
        yield module(X)
        tf.saved_model.save(module, folder)
        yield gradient(module, X)
        del module
        loaded = tf.saved_model.load(folder)
    yield loaded(X)
    yield gradient(loaded, X)
    wrapped = tf.function(lambda x: loaded(x) * 2.0)
    yield wrapped(X)
    with tempfile.TemporaryDirectory() as folder:
        tf.saved_model.save(loaded, folder)
        again = tf.saved_model.load(folder)
    loaded = None
    yield [gradient(wrapped, X), gradient(wrapped, -X)]
    wrapped = None
    yield gradient(again, X)


def saved_models_of_keras():
    model = model_of()
    yield fitted(model)
    with tempfile.TemporaryDirectory() as folder:
        model.save(f"{folder}/model.keras")
        model.export(f"{folder}/exported", verbose=False)
        yield fitted(model)
        del model
        yield fitted(keras.models.load_model(f"{folder}/model.keras"))
        layer = keras.layers.TFSMLayer(f"{folder}/exported", call_endpoint="serve")
    yield layer(X)
    yield gradient(layer, X)


def graphs_and_sessions():
    def built():
        x = v1.placeholder(tf.float32, [None, 4])
        y = cubed(x) + tf.function(cubed)(x) + reversed_gradient(x)
        return x, tf.cond(tf.reduce_sum(y) > 0.0, lambda: cubed(y), lambda: y)

    graph = tf.Graph()
    with graph.as_default():
        x, y = built()
    yield X
    with graph.as_default():
        [slope] = tf.gradients(y, x)
    yield X
    with graph.as_default():
        [curve] = tf.gradients(slope, x)
    session = v1.Session(graph=graph)
    yield session.run([y, slope, curve], {x: X})
    session.close()
    with v1.Session(graph=graph) as session:
        yield session.run([y, slope, curve], {x: X})


def loops_of_version_one():
    graph = tf.Graph()
    with graph.as_default():
        v1.disable_control_flow_v2()
        x = v1.placeholder(tf.float32, [None, 4])
        y = v1.while_loop(lambda i, _: i < 3, lambda i, a: (i + 1, cubed(a) * 0.5), (0, x))[1]
        v1.enable_control_flow_v2()
    with v1.Session(graph=graph) as session:
        yield session.run(y, {x: X})
        with graph.as_default():
            [slope] = tf.gradients(y, x)
        yield session.run(slope, {x: X})


def exported_and_imported_again():
    # What was written down before `mend()` cannot be known: see docs/how-to/mend.md.
    yield X
    function = tf.function(lambda x: reversed_gradient(x) * 2.0)
    concrete = function.get_concrete_function(tf.TensorSpec([None, 4]))
    name_in, name_out = concrete.inputs[0].name, concrete.outputs[0].name
    definition = concrete.graph.as_graph_def()
    yield concrete(tf.constant(X))
    # Nothing is left but what was written down.
    del function, concrete
    yield X

    def differentiated(definition, name_in, name_out, value):
        with tf.Graph().as_default():
            x, y = tf.import_graph_def(definition, return_elements=[name_in, name_out])
            [slope] = tf.gradients(y, x)
            with v1.Session() as session:
                return session.run(slope, {x: value})

    yield differentiated(definition, name_in, name_out, X)
    pruned = v1.wrap_function(
        lambda x: tf.import_graph_def(definition, {name_in: x}, [name_out])[0],
        [tf.TensorSpec([None, 4])],
    )
    yield gradient(pruned, X)
    yield gradient(pruned.prune(pruned.inputs[0], pruned.outputs[0]), X)


def replicated():
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    with strategy.scope():
        model = model_of()
    yield fitted(model)
    yield fitted(model, batch_size=8)


def disturb(*, with_a_model):
    """Others come and go."""
    if with_a_model:
        model_of().train_on_batch(X[:2], Y[:2])
    gradient(tf.function(lambda x: cubed(reversed_gradient(x))), X)
    gc.collect()


def exact(answer):
    return [float(number).hex() for part in tf.nest.flatten(answer) for number in np.ravel(part)]


def run(case):
    keras.utils.set_random_seed(3)
    answers, mended = [], None
    try:
        for number, answer in enumerate(case()):
            answers.append(exact(answer))
            if MODE == "middle" and number == 0:
                mended = lowwater_mended()
            if mended and number == 3:
                mended.undo()
            disturb(with_a_model=number == 1)
    except Exception as error:  # noqa: BLE001 - the case has failed, and says how
        answers.append(f"{type(error).__name__}: {error}")
    if mended:
        mended.undo()
    return answers


def lowwater_mended():
    import lowwater

    mended = lowwater.mend()
    assert not mended.refused, mended
    return mended


def gradients_left():
    from tensorflow.python.framework import ops

    gc.collect()
    return sum(name.startswith("CustomGradient-") for name in ops.gradient_registry.list())


if __name__ == "__main__":
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
    told = {case: run(globals()[case]) for case in CASES}
    told["gradients left"] = gradients_left()
    with open(ANSWER, "w", encoding="utf-8") as file:
        json.dump(told, file)
