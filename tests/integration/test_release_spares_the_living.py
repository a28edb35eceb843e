"""A model that is in use while others are released goes on as if nothing had been."""

import pytest

pytestmark = pytest.mark.tensorflow

# The same program twice: with releases of other models in between, and without.
LIVING = """\
    import gc, sys, tempfile
    import numpy as np, tensorflow as tf, keras, lowwater

    RELEASES = sys.argv[1] == "releases"
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(64, 8)).astype("float32"), rng.normal(size=(64, 1)).astype("float32")

    def a_model():
        model = keras.Sequential([
            keras.layers.Input((8,)),
            keras.layers.Dense(16, activation="silu"),
            keras.layers.Dropout(0.5),
            keras.layers.Dense(1),
        ])
        model.compile("adam", "mse")
        return model

    def others_come_and_go(**options):
        if RELEASES:
            other = a_model()
            other.fit(x, y, verbose=0)
            del other
            lowwater.release(**options)
            with lowwater.lifecycle("another"):
                another = a_model()
                another.fit(x, y, verbose=0)
        # What others draw must not change what the living one draws.
        keras.utils.set_random_seed(1)

    def tell(*numbers):
        print(*(np.asarray(one, "float64").tobytes().hex() for one in numbers))

    @tf.custom_gradient
    def odd(x):
        def gradient(upstream):
            return upstream * 7.0
        return x * 2.0, gradient

    @tf.function
    def traced(x):
        return odd(x)

    @tf.function
    def calls_traced(x):
        return traced(x) + tf.cond(x > 0, lambda: odd(x), lambda: x)

    recomputed = tf.recompute_grad(lambda v: tf.sin(v) * odd(v))

    @tf.function
    def with_recompute(x):
        return recomputed(x)

    def gradient_of(function, at=3.0):
        point = tf.constant(at)
        with tf.GradientTape() as tape:
            tape.watch(point)
            value = function(point)
        return tape.gradient(value, point)

    class Saved(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec((), tf.float32)])
        def __call__(self, x):
            return odd(x)

    keras.utils.set_random_seed(1)
    model = a_model()
    tell(*model.fit(x, y, epochs=2, verbose=0).history["loss"])
    # Traced before the releases, the gradients are taken only after them.
    for function in (traced, calls_traced, with_recompute):
        function(tf.constant(1.0))
    folder = tempfile.mkdtemp()
    tf.saved_model.save(Saved(), folder)
    loaded = tf.saved_model.load(folder)
    loaded(tf.constant(1.0))

    others_come_and_go(level="gentle")
    others_come_and_go()
    tell(*model.fit(x, y, epochs=2, verbose=0).history["loss"])
    # A new batch size is a new trace.
    tell(*model.fit(x, y, epochs=2, batch_size=7, verbose=0).history["loss"])
    tell(*(gradient_of(one) for one in (traced, calls_traced, with_recompute, loaded)))
    others_come_and_go()
    with tf.GradientTape() as tape:
        value = tf.reduce_sum(model(x, training=True))
    tell(*(tf.reduce_sum(one) for one in tape.gradient(value, model.trainable_variables)))
    tell(*(gradient_of(one, 0.5) for one in (traced, calls_traced, with_recompute, loaded)))

    path = folder + "/model.keras"
    model.save(path)
    again = keras.models.load_model(path)
    others_come_and_go()
    tell(*again.fit(x, y, epochs=2, verbose=0).history["loss"])
    tf.saved_model.save(Saved(), folder + "/after")
    others_come_and_go()
    tell(gradient_of(tf.saved_model.load(folder + "/after")))
    tell(gradient_of(traced))
"""


def test_living_models_and_gradients_are_bit_identical(programs):
    programs.write("living.py", LIVING)

    plain = programs.warm("living.py", "plainly")
    released = programs.warm("living.py", "releases")

    assert plain.returncode == 0, plain.stderr
    assert released.returncode == 0, released.stderr
    assert released.stdout == plain.stdout
    assert len(plain.stdout.splitlines()) == 9


INLINED = """\
    import gc, tempfile
    import tensorflow as tf, lowwater
    from lowwater.giveback.gradients.lending import table

    @tf.custom_gradient
    def odd(x):
        return x * 2.0, lambda upstream: upstream * 7.0

    def names():
        return len(table().names)

    def gradient_of(function):
        point = tf.constant(3.0)
        with tf.GradientTape() as tape:
            tape.watch(point)
            value = function(point)
        return float(tape.gradient(value, point))

    # A graph that was copied into another one by its definition, and is gone itself.
    def copied():
        inner = tf.function(odd).get_concrete_function(tf.TensorSpec((), tf.float32))
        definition = inner.graph.as_graph_def()
        source, target = inner.inputs[0].op.name, inner.outputs[0].name
        return tf.compat.v1.wrap_function(
            lambda x: tf.import_graph_def(definition, {source: x}, [target])[0],
            [tf.TensorSpec((), tf.float32)],
        )

    # A SavedModel of which only one function is kept.
    class Saved(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec((), tf.float32)])
        def __call__(self, x):
            return odd(x)

    folder = tempfile.mkdtemp()
    tf.saved_model.save(Saved(), folder)
    kept = [copied(), tf.saved_model.load(folder).__call__]
    # Only the concrete function, only the outer of two, and one with a loop.
    inner = tf.function(odd)
    outer = tf.function(lambda x: inner(x))
    kept.append(outer.get_concrete_function(tf.TensorSpec((), tf.float32)))
    del inner, outer
    kept.append(tf.function(lambda x: tf.while_loop(
        lambda i, v: i < 1, lambda i, v: (i + 1, odd(v)), (0, x))[1]))
    for one in kept:
        one(tf.constant(1.0))
    for _ in range(2):
        lowwater.release()
        lowwater.release(level="gentle")
    print([gradient_of(one) for one in kept])
    kept.clear()
    one = None
    lowwater.release()
    print(names())
"""


def test_copied_graphs_keep_their_gradients_and_dead_ones_do_not(programs):
    programs.write("inlined.py", INLINED)

    done = programs.warm("inlined.py")

    assert done.stdout.splitlines() == ["[7.0, 7.0, 7.0, 7.0]", "0"], done.stderr


EXPORTED = """\
    import gc, sys
    import tensorflow as tf, lowwater

    if sys.argv[1] == "mended":
        lowwater.mend()

    @tf.custom_gradient
    def odd(x):
        return x * 2.0, lambda upstream: upstream * 7.0

    def exported():
        inner = tf.function(odd).get_concrete_function(tf.TensorSpec((), tf.float32))
        names = inner.inputs[0].op.name, inner.outputs[0].name
        return inner.graph.as_graph_def(), *names

    definition, source, target = exported()
    gc.collect()
    lowwater.release()
    again = tf.compat.v1.wrap_function(
        lambda x: tf.import_graph_def(definition, {source: x}, [target])[0],
        [tf.TensorSpec((), tf.float32)],
    )
    point = tf.constant(3.0)
    print(float(again(point)))
    try:
        with tf.GradientTape() as tape:
            tape.watch(point)
            value = again(point)
        print(float(tape.gradient(value, point)))
    except LookupError as error:
        print(error)
"""


def test_graph_that_is_exported_while_mended_can_come_back_after_a_release(programs):
    programs.write("exported.py", EXPORTED)

    done = programs.warm("exported.py", "mended")

    assert done.stdout.splitlines() == ["6.0", "7.0"], done.stderr


def test_gradient_of_a_graph_that_only_its_definition_remembers_is_an_error(programs):
    """A limit: without `mend()` nobody sees the export. It computes, and no gradient is wrong."""
    programs.write("exported.py", EXPORTED)

    done = programs.warm("exported.py", "plain")

    [value, error] = done.stdout.splitlines()
    assert value == "6.0"
    assert error.startswith("No gradient defined for operation")
