# expect: leak of 1152000 bytes per iteration at default_argument_leaks.py:28; LW104|LW102 at 12,10 held by smooth
"""Smoothed class maps: the window is a default argument, so it outlives every call."""
import numpy as np
import tensorflow as tf

rng = np.random.default_rng(4)
kernel = tf.constant(rng.normal(size=(3, 3, 1, 4)), tf.float32)


def smooth(frame, window=[]):
    maps = tf.nn.relu(tf.nn.conv2d(frame[None, ..., None], kernel, 1, "SAME"))[0]
    window.append(maps.numpy())
    return np.mean(window[-3:], axis=0)


def camera(frames):
    for _ in range(frames):
        yield tf.constant(rng.random((120, 120), dtype=np.float32))


def watch_minute(frames):
    busiest = 0.0
    for frame in camera(frames):
        busiest = max(busiest, float(smooth(frame).max()))
    return busiest


for minute in range(14):
    print("minute", minute, "peak", round(watch_minute(frames=5), 3))
