"""LW211 lookup-table: TensorFlow keeps the entries of every lookup table."""

from lowwater.causes.upstream._known_leak import KnownLeak, since

LOOKUP_TABLE = KnownLeak(
    code="LW211",
    name="lookup-table",
    library="tensorflow",
    affects=since(2, 12),
    affected="reported on 2.12, measured on 2.21; no release without it is known",
    issue="tensorflow/tensorflow#61866",
    what=(
        "TensorFlow keeps the entries of every lookup table, even those of deleted "
        "`StringLookup` and `TextVectorization` layers."
    ),
    costs=(
        "0.4 MB for each 5,000 words and 0.2 MB for each 5,000 integers, once per layer that is "
        "created or loaded; `clear_session()` does not free it."
    ),
    advice=(
        "Create the layer once, before the loop, or give it the path of a vocabulary file. "
        "`tf.lookup` tables are freed if created with `experimental_is_anonymous=True`."
    ),
)
