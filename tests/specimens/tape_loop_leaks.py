# expect: leak of 1048576 bytes per iteration at tape_loop_leaks.py:8; LW102 at 14 held by losses
import tensorflow as tf

weights = tf.Variable(tf.random.normal((256, 256)))
losses = []


for step in range(30):
    x = tf.random.normal((1024, 256))
    with tf.GradientTape() as tape:
        out = tf.matmul(x, weights)
        loss = tf.reduce_mean(out**2)
    weights.assign_sub(0.01 * tape.gradient(loss, weights))
    losses.append(out)
