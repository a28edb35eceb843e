"""What frees the memory of a GPU: the articles' recipe, and what Lowwater does instead.

The GPU is host memory that plays one (tests/hostgpu): TensorFlow and its pool are real, the
hardware is not. Each way runs in a process of its own: twenty models are built, trained and
dropped; then TensorFlow says what is in use on the device, and the driver what the process takes.
The numbers are printed as a table and kept in benchmarks/results.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests"))

from hostgpu.build import build  # noqa: E402 - it is a part of the tests
from hostgpu.machine import Machine  # noqa: E402

RESULTS = HERE / "results" / "devices.json"
MIB = 1 << 20
MODELS = 20
BEGIN = """
import gc, json
import keras, numpy as np, pynvml, tensorflow as tf
import lowwater

for gpu in tf.config.list_physical_devices("GPU"):
    tf.config.experimental.set_memory_growth(gpu, True)
x, y = np.ones((32, 64), "float32"), np.ones((32, 1), "float32")

def trained():
    layers = [keras.Input((64,)), *map(keras.layers.Dense, (1024, 512, 1))]
    model = keras.Sequential(layers)
    model.compile("adam", "mse", jit_compile=False)
    model.fit(x, y, verbose=0, batch_size=32)
    return model

def told():
    pynvml.nvmlInit()
    driver = pynvml.nvmlDeviceGetMemoryInfo(pynvml.nvmlDeviceGetHandleByIndex(0)).used
    return tf.config.experimental.get_memory_info("GPU:0")["current"], driver
"""
EVERY_ROUND = "for _ in range({models}):\n    {body}\n"
WAYS = {
    "nothing (20 models kept)": "kept = [trained() for _ in range({models})]\n",
    "`del model`": EVERY_ROUND.replace("{body}", "model = trained()\n    del model"),
    "`del model`, `gc.collect()`": EVERY_ROUND.replace(
        "{body}", "model = trained()\n    del model\n    gc.collect()"
    ),
    "`del model`, `clear_session()`, `gc.collect()`": EVERY_ROUND.replace(
        "{body}",
        "model = trained()\n    del model\n    keras.backend.clear_session()\n    gc.collect()",
    ),
    "`lowwater.release(model)`": EVERY_ROUND.replace(
        "{body}", "model = trained()\n    lowwater.release(model)\n    del model"
    )
    + "gc.collect()\n",
    "`with lowwater.lifecycle():`": EVERY_ROUND.replace(
        "{body}", "with lowwater.lifecycle():\n        trained()"
    ),
    "`lowwater.mend()`, then `del model`, `gc.collect()`": "lowwater.mend()\n"
    + EVERY_ROUND.replace("{body}", "model = trained()\n    del model\n    gc.collect()"),
}


def measured(machine: Machine, body: str) -> tuple[int, int]:
    """Bytes in use on the device and at the driver when the way has done its work."""
    text = BEGIN + body.replace("{models}", str(MODELS)) + "print(json.dumps(told()))\n"
    done = subprocess.run(
        [sys.executable, "-P", "-c", text],
        env=machine.environment(),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    in_use, driver = json.loads(done.stdout.splitlines()[-1])
    return in_use, driver


def main() -> None:
    """Measure every way and print the table."""
    with tempfile.TemporaryDirectory() as folder:
        built = build(Path(folder))
        rows = {
            way: measured(Machine(built, Path(folder) / f"book{number}", [2048 * MIB]), body)
            for number, (way, body) in enumerate(WAYS.items())
        }
    RESULTS.write_text(json.dumps({"models": MODELS, "rows": rows}, indent=2) + "\n")
    print(f"| {MODELS} models, one after the other | in use on the GPU | at the driver |")
    print("|---|---|---|")
    for way, (in_use, driver) in rows.items():
        print(f"| {way} | {in_use / MIB:,.1f} MiB | {driver / MIB:,.0f} MiB |")
    print("| the end of the process | 0 | 0 |")


if __name__ == "__main__":
    main()
