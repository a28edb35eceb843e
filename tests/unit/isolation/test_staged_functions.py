"""Functions of `tf.function` and `jax.jit` travel with their options, also after a call."""

import functools

import numpy as np
import pytest

from lowwater.isolation.parcel import pack, unpack

pytestmark = pytest.mark.tensorflow


def test_traced_function_of_tensorflow_is_sent_with_its_options():
    import tensorflow as tf

    signature = [tf.TensorSpec((None, 2), tf.float32)]
    traces = []

    @tf.function(input_signature=signature, reduce_retracing=True, jit_compile=False)
    def double(x):
        traces.append(1)
        return 2 * x

    double(tf.ones((3, 2)))

    def calls_it(x):
        return double(x)

    there = unpack(pack(calls_it))

    received = there.__closure__[0].cell_contents
    assert there(tf.ones((1, 2))).numpy().tolist() == [[2, 2]]
    assert received is not double
    assert received.input_signature == tuple(signature)
    assert (received._reduce_retracing, received._jit_compile) == (True, False)
    assert len(traces) == 1  # ours


def test_function_of_tensorflow_without_a_signature_still_has_none():
    import tensorflow as tf

    function = tf.function(lambda x: x + 1)
    function(tf.ones(2))

    assert unpack(pack(function)).input_signature is None


def test_jitted_function_is_sent_with_its_options(with_jax):
    import jax

    @functools.partial(jax.jit, donate_argnums=0, static_argnames="times")
    def scaled(x, times):
        return x * times

    scaled(np.ones(2, "float32"), times=2)
    there = unpack(pack(scaled))

    assert there(np.ones(2, "float32"), times=3).tolist() == [3, 3]
    assert there._jit_info.donate_argnums == (0,)
    assert there._jit_info.static_argnames == ("times",)


def test_jitted_function_with_shardings_is_refused(with_jax):
    import jax

    where = jax.sharding.SingleDeviceSharding(jax.devices()[0])

    with pytest.raises(TypeError, match="shardings belongs to the devices of a process"):
        pack(jax.jit(lambda x: x, in_shardings=where))
