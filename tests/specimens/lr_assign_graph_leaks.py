# expect: leak per iteration at lr_assign_graph_leaks.py:39; LW203 at 30,28,29
"""Training code from 2017: the learning rate is lowered by an op made on the spot."""
import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()


class Regression:
    def __init__(self, features):
        self.x = tf.placeholder(tf.float32, [None, features])
        self.y = tf.placeholder(tf.float32, [None, 1])
        self.rate = tf.Variable(0.05, trainable=False)
        hidden = tf.nn.relu(self.dense(self.x, 32))
        self.loss = tf.reduce_mean(tf.square(self.dense(hidden, 1) - self.y))
        self.train = tf.train.GradientDescentOptimizer(self.rate).minimize(self.loss)

    def dense(self, inputs, units):
        kernel = tf.Variable(tf.random.normal([int(inputs.shape[-1]), units], stddev=0.1))
        return tf.matmul(inputs, kernel) + tf.Variable(tf.zeros([units]))


def train_epoch(session, net, x, y, rng):
    order = rng.permutation(len(x))
    for batch in np.array_split(order, 12):
        feed = {net.x: x[batch], net.y: y[batch]}
        session.run(net.train, feed)
        session.run(tf.assign(net.rate, net.rate * 0.999))
        error = tf.sqrt(net.loss)
        history = session.run(tf.clip_by_value(error, 0.0, 1e3), feed)
    return history


rng = np.random.default_rng(7)
x, y = rng.normal(size=(480, 10)), rng.normal(size=(480, 1))
net = Regression(10)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for epoch in range(14):
        print("epoch", epoch, "rmse", round(float(train_epoch(session, net, x, y, rng)), 4))
