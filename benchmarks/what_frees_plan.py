"""What `what_frees.py` measures: models, backends, advice, and how each is called."""

from dataclasses import dataclass

TF = "tensorflow"
RECIPE = "del+collect+clear_session+collect"
NAMES = {TF: "TensorFlow", "jax": "JAX", "torch": "torch"}
MODELS = {
    "dense": "three Dense layers",
    "lstm": "an LSTM",
    "mobilenet": "MobileNetV2 (32x32 images)",
}


@dataclass(frozen=True)
class Table:
    """One loop on one backend, and the advice that is tried on it."""

    program: str
    backend: str
    advice: tuple[str, ...]


# Each piece of advice alone, then combined, then what we offer.
_ALL = (
    *("nothing", "del", "collect", "clear_session", "reset_default_graph", "trim"),
    *("del+collect", "del+clear_session", RECIPE, f"{RECIPE}+trim"),
    *("run_eagerly", f"run_eagerly+{RECIPE}", "subprocess"),
    *("mend", "mend+collect", f"mend+{RECIPE}", "del+release", "lifecycle"),
)
# What has nothing to do with TensorFlow's graphs.
_ELSEWHERE = (
    *("nothing", "del", "collect", "clear_session", "trim", RECIPE),
    *("run_eagerly", "del+release", "lifecycle"),
)
TABLES = (
    *(Table(model, TF, _ALL) for model in MODELS),
    *(Table(model, backend, _ELSEWHERE) for backend in ("jax", "torch") for model in MODELS),
    Table("session", TF, ("open", "close", "nothing")),
    Table("default_graph", TF, ("nothing", "collect", "clear_session", "reset_default_graph")),
    Table("tensor", TF, ("keep", "nothing")),
    Table("callback", TF, ("keep", "nothing")),
)

# The same advice with the memory on a device: twenty rounds of each.
ON_DEVICE_MODELS = (
    *("keep", *_ALL[:13], "isolated", *_ALL[13:]),
    "keep+greedy",
)
ON_DEVICE_SMALL = {
    ("session", "open"): "v1 session, a variable of 2 MB: left open, and kept",
    ("session", "close"): "the same, closed, and kept",
    ("session", "nothing"): "the same, dropped without closing",
    ("session", "initialize"): "the same, open and kept: `del variable`, then initialized again",
    ("session", "default_graph"): "v1 variable and session, in the default graph: nothing",
    ("session", "default_graph+clear_session"): "the same, `clear_session()`",
    ("session", "default_graph+reset_default_graph"): "the same, `reset_default_graph()`",
    ("tensor", "keep"): "a tensor of 4 MiB: kept in a list",
    ("tensor", "nothing"): "the same, `del tensor`",
    ("callback", "keep"): "a callback that keeps 1 MiB of predictions per epoch",
    ("callback", "nothing"): "the same, which keeps their mean",
}

STEPS = {
    "nothing": "nothing",
    "del": "`del model`",
    "collect": "`gc.collect()`",
    "clear_session": "`clear_session()`",
    "reset_default_graph": "`reset_default_graph()`",
    "trim": "`malloc_trim`",
    "run_eagerly": "`run_eagerly=True`",
    "subprocess": "a process for each training",
    "mend": "`lowwater.mend()` once",
    "release": "`lowwater.release()`",
    "lifecycle": "`with lowwater.lifecycle(…)`",
    "keep": "the models are kept in a list",
    "greedy": "without memory growth",
    "isolated": "`@lowwater.isolated`",
}
SMALL = {
    ("session", "open"): "v1 session, a variable of 2 MB: left open, and kept",
    ("session", "close"): "the same, closed, and kept",
    ("session", "nothing"): "the same, dropped without closing",
    ("default_graph", "nothing"): "v1 variable and session, in the default graph: nothing",
    ("default_graph", "collect"): "the same, `gc.collect()`",
    ("default_graph", "clear_session"): "the same, `clear_session()`",
    ("default_graph", "reset_default_graph"): "the same, `reset_default_graph()`",
    ("tensor", "keep"): "a tensor of 4.2 MB: kept in a list",
    ("tensor", "nothing"): "the same, `del tensor`",
    ("callback", "keep"): "a callback that keeps 1 MB of predictions per epoch",
    ("callback", "nothing"): "the same, which keeps their mean",
}


def label(advice: str) -> str:
    """`del+collect` -> "`del model` + `gc.collect()`"; the recipe has a name."""
    if advice == RECIPE:
        return "the full recipe"
    parts = advice.replace(RECIPE, "recipe").split("+")
    return " + ".join(STEPS.get(part, "the full recipe") for part in parts)
