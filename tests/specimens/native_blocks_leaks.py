# expect: leak of 1048576 bytes per iteration at native_blocks_leaks.py:36; LW404 at 36,30,19,37
"""A decoder in C that hands out buffers; the wrapper never gives them back."""
import ctypes

import numpy as np
import tensorflow as tf

libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.malloc.argtypes = [ctypes.c_size_t]
libc.free.argtypes = [ctypes.c_void_p]
libc.memset.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t]


class Decoder:
    """Wraps decode() and release() of the C library."""

    def decode(self, packet, size):
        self.buffer = libc.malloc(size)
        libc.memset(self.buffer, packet % 251, size)
        return np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(self.buffer)).copy()

    def release(self):
        libc.free(self.buffer)


def mean_brightness(decoder, packets):
    total = 0.0
    for packet in packets:
        pixels = decoder.decode(packet, 128 * 1024)
        total += float(tf.reduce_mean(tf.constant(pixels[:1024], tf.float32)))
    return total / len(packets)


decoder = Decoder()
for clip in range(14):
    brightness = mean_brightness(decoder, range(8 * clip, 8 * clip + 8))
    print("clip", clip, "brightness", round(brightness, 2))
