"""LW304 pipeline-per-round: TensorFlow's default graph keeps the Python functions of pipelines."""

from lowwater.upstream._known_leak import KnownLeak, Version


def _affects(version: Version) -> bool:
    return version < (2, 22)


PIPELINE_PER_ROUND = KnownLeak(
    code="LW304",
    name="pipeline-per-round",
    library="tensorflow",
    affects=_affects,
    affected="up to 2.21; a fix for `from_generator` was merged after it",
    issue="tensorflow/tensorflow#123530",
    what=(
        "TensorFlow's default graph keeps the Python functions behind `from_generator`, "
        "`py_function` and `PyDataset`."
    ),
    costs="Everything that those functions refer to, once for each pipeline that is made.",
    advice=(
        "Make the pipeline once, before the loop; "
        "else call `clear_session()` and `gc.collect()` between rounds."
    ),
)
