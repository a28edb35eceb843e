# expect: no leak; LW108
"""Nodes and their parents refer to each other; the collector is on and takes the trees away."""
import numpy as np
import tensorflow as tf



class Node:
    """A node of a search tree with its value map."""

    def __init__(self, parent, value):
        self.parent = parent
        self.children = []
        self.value = value
        if parent is not None:
            parent.children.append(self)


def expand(root, rng, nodes):
    for _ in range(nodes):
        Node(root, rng.random((128, 128), dtype=np.float32))
    return max(root.children, key=lambda node: node.value.mean())


def plan(rng):
    root = Node(None, rng.random((128, 128), dtype=np.float32))
    best = expand(root, rng, nodes=15)
    return float(tf.reduce_max(tf.constant(best.value)))


rng = np.random.default_rng(0)
moves = []
for move in range(20):
    moves.append(plan(rng))
print(len(moves), "moves")
