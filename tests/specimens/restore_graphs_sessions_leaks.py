# expect: leak of about 3080000 bytes per iteration at restore_graphs_sessions_leaks.py:44; LW204 at 22,35,36
"""A model server that loads a new version now and then and forgets to shut the old one down."""
import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_eager_execution()


class Version:
    """One version of the model: its graph and its session."""

    def __init__(self, number):
        self.number = number
        self.graph = tf.Graph()
        with self.graph.as_default():
            self.x = layer = tf.placeholder(tf.float32, [None, 200])
            for depth in range(10):
                kernel = tf.get_variable(f"kernel{depth}", [200, 200])
                layer = tf.nn.relu(tf.matmul(layer, kernel))
            self.y = tf.reduce_mean(layer, axis=1)
            start = tf.global_variables_initializer()
        self.session = tf.Session(graph=self.graph)
        self.session.run(start)

    def answer(self, rows):
        return self.session.run(self.y, {self.x: rows})


class Server:
    def __init__(self):
        self.versions = {}
        self.current = None

    def roll_out(self, number):
        self.current = Version(number)
        self.versions[f"v{number}"] = self.current

    def handle(self, rows):
        return self.current.answer(rows)


def main():
    server = Server()
    for number in range(16):
        server.roll_out(number)
        for _ in range(3):
            server.handle(np.ones((4, 200), "float32"))


if __name__ == "__main__":
    main()
