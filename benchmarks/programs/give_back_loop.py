"""Builds, fits and forgets models, does after each what people advise, and prints what stays.

$ python give_back_loop.py dense del+collect+clear_session --rounds 6

An advice is a row of steps. Bytes in use are read as they are, after every round; the collector
is run for measuring twice only: before the first round that counts, and after the last.
"""

import argparse
import functools
import gc
import json
import multiprocessing
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

import lowwater
from lowwater.model import Reading, gauges
from lowwater.probes import default_probes

TENSOR_BYTES = 4 << 20
# What the programs that keep something keep, for as long as the process lives.
KEPT: list[Any] = []


def levels() -> dict[str, int | None]:
    """Where memory stands; what cannot be read is None, not zero."""
    found: dict[str, int] = {}
    for probe in default_probes():
        reading = probe.read()
        found |= reading.gauges if isinstance(reading, Reading) else {}
    return {
        "in_use_bytes": gauges.in_use_bytes(found),
        "resident_bytes": gauges.rss_bytes(found) if gauges.RSS_ANON in found else None,
        "functions": found.get(gauges.FUNCTIONS),
        "gradients": found.get(gauges.GRADIENTS),
        "objects": len(gc.get_objects()),
    }


def clear_session() -> None:
    """Keras' own, which is `tf.keras.backend.clear_session` too."""
    import keras

    keras.backend.clear_session()


def reset_default_graph() -> None:
    """TensorFlow's new default graph."""
    import tensorflow as tf

    tf.compat.v1.reset_default_graph()


def trim() -> None:
    """`malloc_trim(0)`."""
    import psutil

    psutil.heap_trim()


STEPS: Mapping[str, Callable[[], object]] = {
    "collect": gc.collect,
    "clear_session": clear_session,
    "reset_default_graph": reset_default_graph,
    "trim": trim,
    "release": lambda: lowwater.release(),  # noqa: PLW0108 - loaded when first asked for
}
# Steps that are part of the loop, or come before it.
PLACED = frozenset("nothing del run_eagerly mend lifecycle release_inside subprocess".split())


def dense() -> tuple[Any, Any, Any]:
    """Three Dense layers, with data for four batches."""
    import keras

    layers = keras.layers
    sizes = [layers.Dense(64, activation="relu"), layers.Dense(64, activation="relu")]
    model = keras.Sequential([keras.Input((32,)), *sizes, layers.Dense(1)])
    return model, np.ones((128, 32), "float32"), np.ones((128, 1), "float32")


def lstm() -> tuple[Any, Any, Any]:
    """One LSTM over ten steps, with data for four batches."""
    import keras

    layers = keras.layers
    model = keras.Sequential([keras.Input((10, 8)), layers.LSTM(32), layers.Dense(1)])
    return model, np.ones((128, 10, 8), "float32"), np.ones((128, 1), "float32")


def mobilenet() -> tuple[Any, Any, Any]:
    """MobileNetV2 on 32x32 images, with data for one batch."""
    import keras

    model = keras.applications.MobileNetV2((32, 32, 3), weights=None, classes=10)
    return model, np.ones((8, 32, 32, 3), "float32"), np.eye(10, dtype="float32")[:8]


MODELS = {"dense": dense, "lstm": lstm, "mobilenet": mobilenet}


def train(name: str, *, eagerly: bool) -> Any:  # noqa: ANN401 - a model of Keras
    """A model, built and fitted for one epoch."""
    model, x, y = MODELS[name]()
    model.compile(optimizer="adam", loss="mse", run_eagerly=eagerly)
    model.fit(x, y, epochs=1, verbose=0)
    return model


def train_and_release(name: str, *, eagerly: bool) -> None:
    """The same, released at the end of the function that has built it."""
    model, x, y = MODELS[name]()
    model.compile(optimizer="adam", loss="mse", run_eagerly=eagerly)
    model.fit(x, y, epochs=1, verbose=0)
    lowwater.release(model)


def train_apart(name: str) -> None:
    """The same in a process of its own, from which nothing is kept."""
    context = multiprocessing.get_context("spawn")
    process = context.Process(target=train, args=(name,), kwargs={"eagerly": False})
    process.start()
    process.join()
    if process.exitcode:
        raise SystemExit(f"the training in a process of its own ended with {process.exitcode}")


def train_rounds(name: str, steps: list[str], rounds: int) -> list[dict[str, int | None]]:
    """The loop as a user writes it, with the steps after each training."""
    after = [STEPS[step] for step in steps if step not in PLACED]
    eagerly = "run_eagerly" in steps
    seen = []
    for _ in range(rounds):
        if "subprocess" in steps:
            train_apart(name)
        elif "release_inside" in steps:
            train_and_release(name, eagerly=eagerly)
        elif "lifecycle" in steps:
            with lowwater.lifecycle("round"):
                model = train(name, eagerly=eagerly)
        else:
            model = train(name, eagerly=eagerly)
        if "del" in steps:
            del model
        for step in after:
            step()
        seen.append(levels())
    return seen


def session_rounds(name: str, steps: list[str], rounds: int) -> list[dict[str, int | None]]:
    """A v1 graph with a variable of 2 MB per round, each with a session."""
    import tensorflow as tf

    v1, seen = tf.compat.v1, []
    v1.disable_eager_execution()
    for _ in range(rounds):
        graph = tf.Graph() if name == "session" else v1.get_default_graph()
        with graph.as_default():
            variable = v1.Variable(tf.zeros((500_000,)), use_resource=True)
            session = v1.Session(graph=graph)
            session.run(variable.initializer)
        if "open" in steps:
            KEPT.append(session)
        if "close" in steps:
            KEPT.append(session)
            session.close()
        del graph, variable, session
        for step in steps:
            STEPS.get(step, int)()
        seen.append(levels())
    return seen


def tensor_rounds(_: str, steps: list[str], rounds: int) -> list[dict[str, int | None]]:
    """A tensor of 4 MiB per round, kept in a list or deleted."""
    import tensorflow as tf

    seen = []
    for _ in range(rounds):
        tensor = tf.random.normal((TENSOR_BYTES // 4,))
        if "keep" in steps:
            KEPT.append(tensor)
        del tensor
        seen.append(levels())
    return seen


@functools.cache
def compiled_once() -> tuple[Any, Any, Any]:
    """One model for the whole process: a callback is judged here, and no second model."""
    model, x, y = dense()
    model.compile(optimizer="adam", loss="mse")
    return model, x, y


def callback_rounds(_: str, steps: list[str], rounds: int) -> list[dict[str, int | None]]:
    """One `fit`, with a callback that keeps 1 MiB of predictions of every epoch, or their mean."""
    import keras

    model, x, y = compiled_once()
    many = np.ones(((1 << 20) // 4, 32), "float32")
    seen = []

    class AfterEpoch(keras.callbacks.Callback):  # type: ignore[misc]
        """As in the article."""

        def on_epoch_end(self, epoch: int, logs: Any = None) -> None:  # noqa: ANN401, ARG002
            """Predict, and keep something."""
            found = self.model.predict(many, batch_size=1 << 16, verbose=0)
            KEPT.append(found if "keep" in steps else float(found.mean()))
            seen.append(levels())

    model.fit(x, y, epochs=rounds, verbose=0, callbacks=[AfterEpoch()])
    return seen


LOOPS: Mapping[str, Callable[[str, list[str], int], list[dict[str, int | None]]]] = {
    **dict.fromkeys(MODELS, train_rounds),
    "session": session_rounds,
    "default_graph": session_rounds,
    "tensor": tensor_rounds,
    "callback": callback_rounds,
}


def parser_for(about: str | None, loops: Iterable[str], rounds: int) -> argparse.ArgumentParser:
    """What a program with such loops is asked."""
    parser = argparse.ArgumentParser(description=about.splitlines()[0] if about else None)
    parser.add_argument("program", choices=loops)
    parser.add_argument("advice", help="steps, joined by +")
    parser.add_argument("--rounds", type=int, default=rounds)
    return parser


def main() -> None:
    """Warm up, run the rounds, and print every reading as one line of JSON."""
    parser = parser_for(__doc__, LOOPS, rounds=6)
    parser.add_argument("--warm-up", type=int, default=2)
    asked = parser.parse_args()
    steps, loop = asked.advice.split("+"), LOOPS[asked.program]
    if "mend" in steps:
        lowwater.mend()
    # In several goes: what the first collections free once would look like growth afterwards.
    # From one line: TensorFlow keeps the stacks that graphs were traced from, and another line
    # is another stack, 0.6 MB once.
    for count in (*[1] * asked.warm_up, asked.rounds):
        before = levels()
        rounds = loop(asked.program, steps, count)
        gc.collect()
    print("LEVELS=" + json.dumps({"before": before, "rounds": rounds, "after": levels()}))


if __name__ == "__main__":
    main()
