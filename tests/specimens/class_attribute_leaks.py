# expect: leak of 1024000 bytes per iteration at class_attribute_leaks.py:41; LW102 at 18 held by Tracker.frames
"""Object tracking: `frames` looks like a field of the tracker and belongs to the class."""
import numpy as np
import tensorflow as tf


class Tracker:
    frames = []
    window = 4

    def __init__(self, clip):
        self.clip = clip
        self.score = tf.Variable(0.0)

    def push(self, frame):
        blurred = tf.nn.avg_pool2d(frame[None, ..., None], 3, 1, "SAME")
        features = tf.squeeze(blurred).numpy()
        self.frames.append(features)
        if len(self.frames) >= self.window:
            self.score.assign_add(float(np.mean(features - self.frames[-self.window])))

    def result(self):
        return float(self.score)


def clips(count, length):
    rng = np.random.default_rng(7)
    for clip in range(count):
        yield clip, rng.random((length, 160, 160), dtype=np.float32)


def process(clip, frames):
    tracker = Tracker(clip)
    for frame in frames:
        tracker.push(tf.constant(frame))
    return tracker.result()


def main():
    results = {}
    for clip, frames in clips(count=14, length=10):
        results[clip] = process(clip, frames)
    return results


print(main())
