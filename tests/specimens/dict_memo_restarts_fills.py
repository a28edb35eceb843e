# expect: no leak; fills until 4
"""Gaussian-process tuning: kernel matrices are memoised by length scale, and restarts ask for the same ones."""
import numpy as np
import tensorflow as tf

_points = np.linspace(0, 1, 360, dtype="float32")[:, None]
_kernels = {}


def squared_distances():
    return (_points - _points.T) ** 2


def kernel(scale):
    if scale in _kernels:
        return _kernels[scale]
    matrix = np.exp(-0.5 * squared_distances() / scale**2)
    matrix[np.diag_indices_from(matrix)] += 1e-3
    _kernels[scale] = matrix
    return matrix


def likelihood(scale, observed):
    factor = tf.linalg.cholesky(tf.constant(kernel(scale)))
    solved = tf.linalg.triangular_solve(factor, observed)
    return float(-tf.reduce_sum(solved**2) - tf.reduce_sum(tf.math.log(tf.linalg.diag_part(factor))))


def tune(steps):
    observed = tf.constant(np.sin(8 * _points))
    scale, best = 0.5, -np.inf
    for step in range(steps):
        for factor in (0.9, 1.1):
            value = likelihood(scale * factor, observed)
            if value > best:
                best = value
        scale = 0.5 if step % 4 == 3 else scale * 0.97
    return best


print("best", round(tune(14), 2))
