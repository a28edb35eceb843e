# expect: leak of about 2380000 bytes per iteration at sessions_leaks.py:8; LW204 at 13,16
import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_eager_execution()
jobs = []
data = np.ones((8, 256), "float32")
for job in range(16):
    graph = tf.Graph()
    with graph.as_default():
        x = tf.placeholder(tf.float32, [None, 256])
        w = tf.get_variable("w", [256, 2048])
        session = tf.Session(graph=graph)
        session.run(tf.global_variables_initializer())
        session.run(tf.matmul(x, w), {x: data})
        jobs.append(session)
