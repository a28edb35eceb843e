# expect: no leak
"""A small GAN in eager mode; every draw comes from one seeded generator."""
import keras
import numpy as np
import tensorflow as tf
from keras import layers

SEED, LATENT, BATCH = 42, 8, 32
draws = tf.random.Generator.from_seed(SEED)
np.random.seed(SEED)

generator = keras.Sequential([keras.Input((LATENT,)), layers.Dense(16, "relu"), layers.Dense(2)])
critic = keras.Sequential([keras.Input((2,)), layers.Dense(16, "relu"), layers.Dense(1)])
weights = {net: net.trainable_variables for net in (generator, critic)}


def descend(net, gradients):
    for variable, gradient in zip(weights[net], gradients):
        variable.assign_sub(0.01 * gradient)


def train_on(real):
    noise = draws.normal((BATCH, LATENT))
    with tf.GradientTape(persistent=True) as tape:
        fake = generator(noise, training=True)
        score = tf.reduce_mean(critic(fake)) - tf.reduce_mean(critic(real))
    descend(critic, tape.gradient(score, weights[critic]))
    descend(generator, [-g for g in tape.gradient(score, weights[generator])])
    del tape
    return score


def one_epoch(points, batches):
    for _ in range(batches):
        chosen = tf.gather(points, draws.uniform((BATCH,), 0, 256, tf.int32))
        jitter = draws.uniform(chosen.shape, -0.01, 0.01)
        score = train_on(chosen + jitter)
    return float(score)


circle = np.linspace(0, 2 * np.pi, 256, dtype="float32")
points = tf.constant(np.stack([np.cos(circle), np.sin(circle)], axis=1))
for epoch in range(14):
    score = one_epoch(points, 12)
    print("epoch", epoch, "score", round(score, 4))
