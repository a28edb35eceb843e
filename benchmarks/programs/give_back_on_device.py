"""The same loops with their memory on a device: what is in use there, and what the driver counts.

$ python give_back_on_device.py models del+collect+clear_session+collect --rounds 20

The device is `GPU:0`, and memory growth is on unless the advice is `greedy`. The layers are wide,
so that nearly all bytes are weights and optimizer slots, which live on the device.
"""

import gc
import json
import multiprocessing
import runpy
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pynvml
import tensorflow as tf

import lowwater

ON_HOST = runpy.run_path(str(Path(__file__).resolve().with_name("give_back_loop.py")))
STEPS: Mapping[str, Callable[[], object]] = ON_HOST["STEPS"]
TENSOR_BYTES = 4 << 20
# What the programs that keep something keep, for as long as the process lives.
KEPT: list[Any] = []


def levels(*, is_here: bool) -> dict[str, int]:
    """What TensorFlow has in use on the device in this process, and what the driver counts."""
    pynvml.nvmlInit()
    driver = pynvml.nvmlDeviceGetMemoryInfo(pynvml.nvmlDeviceGetHandleByIndex(0)).used
    pynvml.nvmlShutdown()
    in_use = 0
    if is_here:  # elsewhere, the question would be the first to take the device
        in_use = tf.config.experimental.get_memory_info("GPU:0")["current"]
    return {"in_use_bytes": in_use, "driver_bytes": driver}


def grow() -> None:
    """Take memory of the device as it is needed."""
    for gpu in tf.config.list_physical_devices("GPU"):
        tf.config.experimental.set_memory_growth(gpu, enable=True)


def trained(*, eagerly: bool = False) -> Any:  # noqa: ANN401 - a model of Keras
    """A model, built and fitted for one epoch."""
    x, y = np.ones((32, 64), "float32"), np.ones((32, 1), "float32")
    model = keras.Sequential([keras.Input((64,)), *map(keras.layers.Dense, (1024, 512, 1))])
    # There is no XLA compiler for the device that the tests play.
    model.compile("adam", "mse", jit_compile=False, run_eagerly=eagerly)
    model.fit(x, y, verbose=0, batch_size=32)
    return model


def train_apart() -> None:
    """The same in a process of its own, from which nothing is kept."""
    process = multiprocessing.get_context("spawn").Process(target=grow_and_train)
    process.start()
    process.join()
    if process.exitcode:
        raise SystemExit(f"the training in a process of its own ended with {process.exitcode}")


def grow_and_train() -> None:
    """What that process does."""
    grow()
    trained()


@lowwater.isolated
def train_isolated() -> None:
    """What `isolated` does the same with; it sets memory growth itself."""
    trained()


def train_rounds(steps: list[str], rounds: int) -> None:
    """The loop as a user writes it, with the steps after each training."""
    after = [STEPS[step] for step in steps if step in STEPS]
    for _ in range(rounds):
        if "subprocess" in steps:
            train_apart()
        elif "isolated" in steps:
            train_isolated()
        elif "lifecycle" in steps:
            with lowwater.lifecycle("round"):
                model = trained()
        else:
            model = trained(eagerly="run_eagerly" in steps)
        if "keep" in steps:
            KEPT.append(model)
        if "del" in steps:
            del model
        for step in after:
            step()


def session_rounds(steps: list[str], rounds: int) -> None:
    """A v1 graph with a variable of 2 MB per round, each with a session."""
    v1 = tf.compat.v1
    v1.disable_eager_execution()
    for _ in range(rounds):
        graph = v1.get_default_graph() if "default_graph" in steps else tf.Graph()
        with graph.as_default():
            variable = v1.Variable(tf.zeros((500_000,)), use_resource=True)
            session = v1.Session(graph=graph)
            session.run(variable.initializer)
            if "initialize" in steps:
                del variable
                session.run(v1.global_variables_initializer())
        if {"open", "initialize", "close"} & {*steps}:
            KEPT.append(session)
        if "close" in steps:
            session.close()
        variable = graph = session = None
        for step in steps:
            STEPS.get(step, int)()


def tensor_rounds(steps: list[str], rounds: int) -> None:
    """A tensor of 4 MiB per round, kept in a list or deleted."""
    for _ in range(rounds):
        with tf.device("GPU:0"):
            tensor = tf.zeros((TENSOR_BYTES // 4,))
        if "keep" in steps:
            KEPT.append(tensor)
        del tensor


def callback_rounds(steps: list[str], rounds: int) -> None:
    """One `fit`, with a callback that keeps 1 MiB of predictions of every epoch, or their mean."""
    x, y = np.ones((32, 64), "float32"), np.ones((32, 1), "float32")
    many = np.ones(((1 << 20) // 4, 64), "float32")
    model = keras.Sequential([keras.Input((64,)), keras.layers.Dense(8), keras.layers.Dense(1)])
    model.compile("adam", "mse", jit_compile=False)

    class AfterEpoch(keras.callbacks.Callback):  # type: ignore[misc]
        """As in the article."""

        def on_epoch_end(self, epoch: int, logs: Any = None) -> None:  # noqa: ANN401, ARG002
            """Predict, and keep something."""
            found = self.model.predict(many, batch_size=1 << 16, verbose=0)
            KEPT.append(found if "keep" in steps else float(found.mean()))

    model.fit(x, y, epochs=rounds, verbose=0, callbacks=[AfterEpoch()])
    # Held here, as in a program that goes on.
    KEPT.append(model)


LOOPS: Mapping[str, Callable[[list[str], int], None]] = {
    "models": train_rounds,
    "session": session_rounds,
    "tensor": tensor_rounds,
    "callback": callback_rounds,
}


def main() -> None:
    """Run the rounds, and print both readings as one line of JSON."""
    asked = ON_HOST["parser_for"](__doc__, LOOPS, rounds=20).parse_args()
    steps = asked.advice.split("+")
    is_here = not {"subprocess", "isolated"} & {*steps}
    if is_here and "greedy" not in steps:
        grow()
    if "mend" in steps:
        lowwater.mend()
    LOOPS[asked.program](steps, asked.rounds)
    as_is = levels(is_here=is_here)
    gc.collect()
    collected = levels(is_here=is_here)
    print("LEVELS=" + json.dumps({"as_is": as_is, "collected": collected}), flush=True)


if __name__ == "__main__":
    main()
