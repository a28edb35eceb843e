# expect: leak per iteration at function_per_task_leaks.py:37; LW207|LW205 at 26,19,31,18,33
"""Meta-learning: each task gets a compiled inner step and an optimizer of its own."""
import keras
import numpy as np
import tensorflow as tf

rng = np.random.default_rng(3)
net = keras.Sequential([keras.Input((1,)), keras.layers.Dense(24, "tanh"), keras.layers.Dense(1)])
start = net.get_weights()


def sample_task():
    amplitude, phase = rng.uniform(0.5, 5.0), rng.uniform(0.0, np.pi)
    x = rng.uniform(-5, 5, size=(20, 1)).astype("float32")
    return tf.constant(x), tf.constant(amplitude * np.sin(x - phase))


def make_step(optimizer):
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((net(x, training=True) - y) ** 2)
        grads = tape.gradient(loss, net.trainable_variables)
        optimizer.apply_gradients(zip(grads, net.trainable_variables))
        return loss

    return tf.function(step)


def adapt(task):
    net.set_weights(start)
    step = make_step(keras.optimizers.Adam(0.01))
    for _ in range(3):
        loss = step(*task)
    return [s + 0.1 * (w - s) for s, w in zip(start, net.get_weights())], float(loss)


for task_number in range(14):
    start, loss = adapt(sample_task())
    print("task", task_number, "loss", round(loss, 4))
