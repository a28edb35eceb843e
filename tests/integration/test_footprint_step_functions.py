"""Real step functions in fresh processes: what they take is known from their shapes."""

import json
import subprocess
import sys
import textwrap

import pytest

pytestmark = pytest.mark.tensorflow

MIB = 1 << 20


@pytest.fixture
def run(tmp_path):
    """Run a script, and give back what it printed last, as JSON."""

    def run_script(source):
        script = tmp_path / "script.py"
        script.write_text(textwrap.dedent(source))
        done = subprocess.run(
            [sys.executable, str(script)],
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
            cwd=tmp_path,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout.splitlines()[-1])

    return run_script


# 1 MiB of weights and as much of gradients; each sample takes 2 MiB in `wide`, twice.
TENSORFLOW = """\
    import json
    import numpy as np
    import tensorflow as tf
    import lowwater
    from tensorflow.python.eager.context import context

    kernel = tf.Variable(tf.ones((512, 512)))
    trace = []

    @tf.function(reduce_retracing=True)
    def train_step(x, y):
        trace.append(1)
        with tf.GradientTape() as tape:
            wide = tf.repeat(x @ kernel, 1024, axis=1)
            loss = tf.reduce_mean(tf.exp(wide) - y[:, None])
        kernel.assign_sub(tape.gradient(loss, kernel))
        return loss

    x, y = np.ones((32, 512), "float32"), np.ones(32, "float32")
    before = kernel.numpy()
    {before}
    found = lowwater.footprint(train_step, (x, y), batch_size=32)
    untouched = bool((kernel.numpy() == before).all())
    per_sample = (found.at(32).peak_bytes - found.at(16).peak_bytes) / 16
    print(json.dumps([found.fixed.weights_bytes, per_sample, untouched, len(trace)]))
"""


@pytest.mark.parametrize("before", ["", "train_step(x, y); before = kernel.numpy()"])
def test_function_of_tensorflow_also_one_that_was_traced(run, before):
    weights, per_sample, untouched, traced = run(TENSORFLOW.format(before=before))

    assert weights == MIB
    # At most four wide rows at once, besides those of `x`, of the product and of `y`.
    assert 4 * MIB <= per_sample <= 8 * MIB + 2 * (512 * 4) + 64
    assert untouched
    assert traced == bool(before)


def test_jitted_function_of_jax_is_measured_and_nothing_runs_here(with_jax, run):
    weights, per_sample, started, place = run(
        """\
        import functools, json
        import numpy as np
        import jax, jax.numpy as jnp
        from jax._src import xla_bridge
        import lowwater

        @functools.partial(jax.jit, donate_argnums=0)
        def train_step(kernel, x, y):
            def loss(kernel):
                return jnp.mean(jnp.sin(x @ kernel) ** 2) - jnp.mean(y)
            return kernel - jax.grad(loss)(kernel)

        step = functools.partial(train_step, np.ones((64, 65536), "float32"))
        batch = np.ones((32, 64), "float32"), np.ones(32, "float32")
        found = lowwater.footprint(step, batch, batch_size=32)
        per_sample = (found.at(32).peak_bytes - found.at(16).peak_bytes) / 16
        fixed = found.fixed.weights_bytes
        print(json.dumps([fixed, per_sample, len(xla_bridge._backends), found.place]))
        """
    )

    assert weights == 64 * 65536 * 4
    # One row of 65536 numbers at least: the product.
    assert 65536 * 4 * 0.98 <= per_sample <= 65536 * 4 * 4
    assert started == 0
    assert place == "CPU:0"


def test_step_functions_that_cannot_be_measured_have_one_sentence_each(with_jax, run):
    told = run(
        """\
        import json
        import numpy as np
        import jax, tensorflow as tf
        import lowwater

        x = np.ones((8, 4), "float32")
        plain = lambda x: jax.numpy.sum(x)
        signature = [tf.TensorSpec((8, 4), tf.float32)]
        fixed = tf.function(lambda x: x * 2, input_signature=signature)

        def fails(x):
            raise ValueError("shapes do not match") if tf else None

        told = []
        for step in (plain, fixed, fails):
            try:
                lowwater.footprint(step, x, batch_size=8)
            except lowwater.errors.UserError as error:
                told.append(str(error))
        print(json.dumps(told))
        """
    )

    assert [sentence.partition(" (received")[0] for sentence in told] == [
        "the step function is not jitted, so JAX has no compiled step to measure",
        "the input_signature of the step function allows only one batch size",
        "the model fails in a training step with a batch of 2",
    ]
