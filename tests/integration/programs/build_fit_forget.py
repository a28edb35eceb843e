"""Build, fit, forget: run as `build_fit_forget.py KIND ROUNDS`.

Each round builds a model, fits it for one epoch and drops the only reference to it; nothing is
deleted by hand, nothing cleared. Before measuring, garbage is collected.
"""

import gc
import json
import sys

import lowwater

mended = lowwater.mend()

import keras  # noqa: E402 - mended before it comes in
import numpy as np  # noqa: E402

from lowwater.model import Reading  # noqa: E402
from lowwater.model.gauges import in_use_bytes  # noqa: E402
from lowwater.probes import default_probes  # noqa: E402


def small():
    dense = keras.layers.Dense
    return keras.Sequential([dense(32, "relu"), dense(16, "relu"), dense(1)]), (64, 8)


def large():
    body = keras.applications.MobileNetV2((32, 32, 3), weights=None, include_top=False)
    pooled = keras.layers.GlobalAveragePooling2D()
    return keras.Sequential([body, pooled, keras.layers.Dense(1)]), (4, 32, 32, 3)


def measured():
    gc.collect()
    readings = [probe.read() for probe in probes]
    gauges = {k: v for one in readings if isinstance(one, Reading) for k, v in one.gauges.items()}
    return in_use_bytes(gauges), len(gc.get_objects())


def one_round():
    model, shape = {"small": small, "large": large}[sys.argv[1]]()
    model.compile("adam", "mse")
    model.fit(np.ones(shape, "float32"), np.ones((shape[0], 1), "float32"), verbose=0)


probes = list(default_probes())
told = []
for _ in range(int(sys.argv[2])):
    one_round()
    told.append(measured())
print(json.dumps({"mended": str(mended), "rounds": told}))
