"""LW304 pipeline-per-round: TensorFlow's default graph keeps the Python functions of pipelines."""

from lowwater.causes.upstream._known_leak import KnownLeak, since

PIPELINE_PER_ROUND = KnownLeak(
    code="LW304",
    name="pipeline-per-round",
    library="tensorflow",
    # After 2.21 pipelines own their functions; those of eager `py_function` calls still stay.
    affects=since(2),
    affected=(
        "measured on 2.21; a fix for pipelines, but not for eager `py_function`, was merged "
        "later (tensorflow/tensorflow#123530)"
    ),
    issue="tensorflow/tensorflow#123269",
    what=(
        "TensorFlow's default graph keeps the Python functions behind `from_generator`, "
        "`py_function` and `PyDataset`."
    ),
    costs=(
        "Everything that those functions refer to, once for each new pipeline and for each eager "
        "`py_function` call, which also leaves a kernel of 35 KB."
    ),
    advice=(
        "Create the pipeline once, before the loop; otherwise call `clear_session()` and "
        "`gc.collect()` between rounds. In eager code, `tf.numpy_function` keeps nothing."
    ),
)
