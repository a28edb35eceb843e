# expect: no leak
"""Meta-learning with one compiled inner step for all tasks; the optimizer's slots are reset."""
import keras
import numpy as np
import tensorflow as tf

rng = np.random.default_rng(3)
net = keras.Sequential([keras.Input((1,)), keras.layers.Dense(24, "tanh"), keras.layers.Dense(1)])
start = net.get_weights()
optimizer = keras.optimizers.Adam(0.01)
optimizer.build(net.trainable_variables)
untouched = [variable.numpy() for variable in optimizer.variables]


def sample_task():
    amplitude, phase = rng.uniform(0.5, 5.0), rng.uniform(0.0, np.pi)
    x = rng.uniform(-5, 5, size=(20, 1)).astype("float32")
    return tf.constant(x), tf.constant(amplitude * np.sin(x - phase))


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((net(x, training=True) - y) ** 2)
    grads = tape.gradient(loss, net.trainable_variables)
    optimizer.apply_gradients(zip(grads, net.trainable_variables))
    return loss


def adapt(task):
    net.set_weights(start)
    for variable, value in zip(optimizer.variables, untouched):
        variable.assign(value)
    for _ in range(3):
        loss = step(*task)
    return [s + 0.1 * (w - s) for s, w in zip(start, net.get_weights())], float(loss)


for task_number in range(14):
    start, loss = adapt(sample_task())
    print("task", task_number, "loss", round(loss, 4))
