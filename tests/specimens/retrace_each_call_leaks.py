# expect: leak of about 167000 bytes per iteration at retrace_each_call_leaks.py:13; LW202 at 6 held by total
"""A `tf.function` is called with a new length each time, in a loop that is quick otherwise."""
import tensorflow as tf


@tf.function
def total(x):
    return tf.reduce_sum(tf.tanh(x) * 2.0 + tf.sqrt(tf.abs(x)))


def main():
    result = 0.0
    for length in range(1, 700):
        result += float(total(tf.ones((length, 7))))
    print("total", round(result, 3))


main()
