"""What users see before they know a cause: a word, an error, a habit; and how to go on."""

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Symptom:
    """One thing that users search for: what it means, what to type, and its causes if it has any.

    The first of the `names` is the one that lists show.
    """

    names: tuple[str, ...]
    title: str
    answer: str
    commands: tuple[tuple[str, str], ...]
    codes: tuple[str, ...]

    @property
    def name(self) -> str:
        """What to type after `lowwater explain`."""
        return self.names[0]


_RUN = ("lowwater run train.py", "says whether it is a leak, and which line holds the memory")
_DIAGNOSE = ("lowwater diagnose train.py", "runs short experiments that show which part does it")
_MEND = ("lowwater run --mend train.py", "repairs the known library leaks for this run")
_FOOTPRINT = ('lowwater footprint --limit "8 GiB" train.py', "measures the largest batch that fits")
_WHY = ("lowwater run train.py", "says what ran out, and why: leak, too big or fragmented")

SYMPTOMS: tuple[Symptom, ...] = (
    Symptom(
        ("oom", "out of memory", "memoryerror", "killed", "exit 137", "oom killer", "sigkill"),
        "The program runs out of memory",
        "Either memory grows with every round until none is left (a leak), or one round needs "
        "more than the machine has (too big), or enough is free but in pieces that are too "
        "small (fragmented). Run the program under Lowwater: the report says which of them it "
        "is, even if the program crashes or is killed.",
        (
            _WHY,
            _FOOTPRINT,
            ("lowwater run --guard train.py", "saves the model and ends `fit` in time"),
        ),
        ("LW102", "LW201", "LW205", "LW301", "LW302"),
    ),
    Symptom(
        ("ResourceExhaustedError", "oom when allocating tensor", "ran out of memory trying to"),
        "TensorFlow raises ResourceExhaustedError",
        "TensorFlow's own pool is full. The pool never returns memory to the system, so look "
        "at the memory in use inside it, not at its size. If that grows with every round, "
        "something keeps tensors or models. A caught error can be the reason too: the "
        "exception holds the frames of the failed call, and so its tensors.",
        (
            _WHY,
            _FOOTPRINT,
            (
                "lowwater.release()",
                "in the program: frees what it can, and names what holds the rest",
            ),
        ),
        ("LW105", "LW201", "LW205", "LW401"),
    ),
    Symptom(
        ("gpu", "nvidia-smi", "cuda", "vram", "cuda out of memory", "gpu memory"),
        "nvidia-smi shows a full GPU",
        "According to its documentation, TensorFlow takes nearly the whole GPU at startup and "
        "keeps it until the process ends. So a full GPU in nvidia-smi is not a sign of a leak: "
        "what counts is the memory in use inside TensorFlow's pool. To return all of it, end "
        "the process. Lowwater itself was tested only on a simulated GPU.",
        (
            ("lowwater gpu", "shows which process holds it, and which of them look idle"),
            ("lowwater run --gpu-memory-growth train.py", "takes only what the program needs"),
            (
                "lowwater run train.py",
                "says whether memory in use grows, on the host and on each device",
            ),
            ("@lowwater.isolated", "in the program: runs a training in its own process"),
        ),
        ("LW401", "LW405", "LW205"),
    ),
    Symptom(
        ("batch size", "will it fit", "largest batch", "too big", "peak memory", "footprint"),
        "Which batch size fits into memory?",
        "Formulas are far off, so Lowwater measures: it makes real training steps with small "
        "batches, predicts the peaks of larger ones, and confirms the largest batch by real steps "
        "under the limit.",
        (
            _FOOTPRINT,
            (
                'lowwater footprint --limit "8 GiB" --need-batch 512 train.py',
                "tries what makes that batch fit",
            ),
        ),
        (),
    ),
    Symptom(
        ("clear_session", "clear session"),
        "clear_session() does not free the memory",
        "clear_session() resets the global state of Keras. It does not free a model that a "
        "variable, a list, a History or TensorFlow's gradient registry still holds. A small "
        "model that is built and fitted in a loop leaves 5.8 MB behind, even with `del` and "
        "`gc.collect()`. Between the epochs of one model, clear_session() frees nothing, and "
        "traced functions repeat their random numbers.",
        (("lowwater.mend()", "in the program, before the first model: repairs it"), _MEND, _RUN),
        ("LW205", "LW206", "LW201"),
    ),
    Symptom(
        ("predict", "model.predict", "predict in a loop", "inference", "predict_on_batch"),
        "Memory grows when predict() is called in a loop",
        "Each predict() leaves a little cyclic garbage, about 16 KB, which Python frees at "
        "its next full collection: a sawtooth, not a leak. Input shapes that keep changing "
        "are different: each new shape is traced and stays. For single inputs, model(x) is "
        "faster and leaves nothing.",
        (_RUN, _DIAGNOSE),
        ("LW108", "LW202", "LW209"),
    ),
    Symptom(
        (
            *("fit in a loop", "fit loop", "k-fold", "kfold", "cross validation", "folds"),
            *("tuning", "hyperparameter", "models in a loop", "trials", "optuna", "keras tuner"),
        ),
        "Memory grows when models are built and fitted in a loop",
        "On TensorFlow up to 2.21 this leaks even if the program does everything right: the "
        "gradient registry keeps every trained graph. Kept History objects and lists of "
        "models keep them as well.",
        (
            ("lowwater.mend()", "in the program, before the first model: repairs it"),
            (
                'with lowwater.lifecycle("fold"):',
                "in the program, around each fold: frees it, with a receipt",
            ),
            ("lowwater.map(train, configs)", "in the program: each trial in its own process"),
            _RUN,
        ),
        ("LW205", "LW103", "LW201"),
    ),
    Symptom(
        ("kernel restart", "restart the kernel", "jupyter", "notebook", "colab", "ipython"),
        "Only restarting the kernel frees the memory",
        "A notebook keeps more than your variables: every result that it showed (`Out`, `_`), "
        "and the last exception with all its frames. Together with the gradient registry they "
        "hold models that you have deleted.",
        (
            ("lowwater.release(model)", "in a cell: frees it, and names what still holds it"),
            ("@lowwater.isolated", "in a cell: trains in a process that ends"),
        ),
        ("LW106", "LW105", "LW205"),
    ),
    Symptom(
        (
            "rss",
            "memory keeps growing",
            "htop",
            "resident memory",
            "malloc",
            "fragmentation",
        ),
        "Resident memory is high or does not go down",
        "Resident memory (RSS) is not what the program uses. malloc and TensorFlow's pool "
        "keep freed memory for reuse, and mapped files count too. Lowwater judges what is in "
        "use, and shows the rest beside it.",
        (_RUN, ("lowwater doctor", "shows which allocator is active, and what can be measured")),
        ("LW401", "LW402", "LW403"),
    ),
    Symptom(
        ("retracing", "triggered tf.function retracing", "tf.function", "retrace"),
        "TensorFlow warns about tf.function retracing",
        "Each trace is a graph that lives as long as the function. Python numbers and new "
        "shapes are traced again each time. Pass tensors, or give the function an "
        "input_signature; reduce_retracing=True does not help with Python numbers.",
        (_RUN, _DIAGNOSE),
        ("LW202", "LW207", "LW210"),
    ),
    Symptom(
        ("tf.data", "dataset", "data pipeline", "cache", "shuffle", "from_generator", "generator"),
        "Memory grows with the input pipeline",
        "cache() and shuffle() hold data on purpose, and stop growing when they are full. A "
        "pipeline that is built in every round is different: TensorFlow keeps its Python "
        "functions, with all that they refer to.",
        (_RUN, _DIAGNOSE),
        ("LW301", "LW302", "LW303", "LW304"),
    ),
)


def symptom_of(text: str) -> Symptom | None:
    """The symptom that these words are about; the longest name that is part of them decides."""
    asked = _plain(text)
    found = [
        (len(name), symptom)
        for symptom in SYMPTOMS
        for name in map(_plain, symptom.names)
        if f" {name} " in f" {asked} "
    ]
    return max(found, key=lambda one: one[0])[1] if found else None


def _plain(text: str) -> str:
    """Words alone, in lower case: `keras.backend.clear_session()` has `clear session` in it."""
    return " ".join(re.findall(r"[a-z0-9]+", text.lower()))
