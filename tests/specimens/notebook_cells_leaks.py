# expect: leak of 1920000 bytes per iteration at notebook_cells_leaks.py:35; LW106|LW102 at 22,23
"""A tiny notebook kernel: cells are run one by one, and `Out` remembers every result."""
import code

import numpy as np
import tensorflow as tf


class Kernel(code.InteractiveInterpreter):
    def __init__(self):
        self.Out = {}
        self.count = 0
        super().__init__({"np": np, "tf": tf, "Out": self.Out, "_": None})

    def run_cell(self, source):
        self.count += 1
        result = eval(compile(source, f"<cell {self.count}>", "eval"), self.locals)
        self.show(result)

    def show(self, result):
        self.locals["_"] = result
        self.Out[self.count] = result
        self.locals[f"_{self.count}"] = result
        print(f"Out[{self.count}]:", type(result).__name__, result.shape)


CELLS = [
    "np.random.default_rng(0).normal(size=(400, 300))",
    "tf.nn.softmax(tf.constant(_)).numpy()",
]


def session(rounds):
    kernel = Kernel()
    for _ in range(rounds):
        for source in CELLS:
            kernel.run_cell(source)


session(14)
