# expect: no leak; LW403
import os
import tempfile

import numpy as np

path = os.path.join(tempfile.mkdtemp(), "table.bin")
np.zeros((150, 100_000), "float32").tofile(path)
table = np.memmap(path, "float32", "r", shape=(150, 100_000))
total = 0.0
for epoch in range(15):
    total += float(table[10 * epoch : 10 * epoch + 10].sum())
os.remove(path)
