# expect: no leak
"""A small DQN whose training step takes the exploration rate as a tensor."""
import numpy as np
import tensorflow as tf

STATES, ACTIONS = 16, 4


class Agent:
    def __init__(self):
        self.epsilon = 1.0
        self.weights = tf.Variable(tf.random.normal((STATES, 64), stddev=0.1))
        self.head = tf.Variable(tf.random.normal((64, ACTIONS), stddev=0.1))
        self.rng = np.random.default_rng(0)

    @tf.function
    def learn(self, states, rewards, epsilon):
        with tf.GradientTape() as tape:
            hidden = tf.nn.relu(tf.matmul(states, self.weights))
            values = tf.matmul(hidden, self.head)
            greedy = tf.reduce_max(values, axis=1)
            average = tf.reduce_mean(values, axis=1)
            error = rewards - (1.0 - epsilon) * greedy - epsilon * average
            loss = tf.reduce_mean(tf.square(error))
        gradients = tape.gradient(loss, [self.weights, self.head])
        for variable, gradient in zip([self.weights, self.head], gradients):
            variable.assign_sub(0.01 * gradient)
        return loss

    def play(self, steps):
        for _ in range(steps):
            states = tf.constant(self.rng.normal(size=(32, STATES)), tf.float32)
            loss = self.learn(states, tf.reduce_sum(states, axis=1), tf.constant(self.epsilon))
            self.epsilon *= 0.995
        return float(loss)


agent = Agent()
for episode in range(14):
    loss = agent.play(steps=6)
    print("episode", episode, "loss", round(loss, 4), "epsilon", round(agent.epsilon, 3))
