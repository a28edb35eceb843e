"""LW210 to LW214 in the source: what fills the tables of TensorFlow and Keras in each round."""

import pytest

from lowwater.testing import findings_in

HEAD = "import keras\nimport tensorflow as tf\nfrom keras import layers\n"


def found(text):
    return [(one.code, one.span.line) for one in findings_in(HEAD + text) if one.code != "LW205"]


def codes(text):
    return [code for code, _ in found(text)]


LOOKUP = "def features(words):\n    return layers.StringLookup(vocabulary=words)\n"


def test_a_lookup_table_in_each_round_is_found():
    assert found("for fold in range(9):\n    layers.TextVectorization(1000)\n") == [("LW211", 5)]
    assert codes(f"{LOOKUP}for fold in range(9):\n    features(w)\n") == ["LW211"]
    assert codes(f"{LOOKUP}for train, test in folds.split(x):\n    features(w)\n") == ["LW211"]


@pytest.mark.parametrize(
    "text",
    [
        "lookup = layers.StringLookup()\nfor fold in range(9):\n    lookup(x)\n",
        "for name in names:\n    inputs.append(layers.StringLookup()(columns[name]))\n",
        "encoders = {name: layers.IntegerLookup() for name in names}\n",
        "for fold in range(2):\n    layers.StringLookup()\n",
    ],
)
def test_one_lookup_table_for_each_column_is_acquitted(text):
    assert codes(text) == []


REGISTERED = (
    "def make(weights):\n    @keras.saving.register_keras_serializable()\n"
    "    def loss(a, b):\n        return weights * (a - b)\n    return loss\n"
)


def test_what_is_registered_in_each_round_is_found():
    assert found(f"{REGISTERED}for fold in range(9):\n    make(w)\n") == [("LW213", 5)]
    inside = "for fold in range(9):\n    @keras.utils.register_keras_serializable()\n"
    assert codes(f"{inside}    class Loss(keras.losses.Loss):\n        pass\n") == ["LW213"]


@pytest.mark.parametrize(
    "text",
    [
        f"{REGISTERED}loss = make(w)\nfor fold in range(9):\n    loss(x, y)\n",
        (
            "@keras.saving.register_keras_serializable()\nclass Loss:\n    pass\n"
            "for fold in range(9):\n    Loss()\n"
        ),
        (
            f"{REGISTERED.replace('@keras.saving.register_keras_serializable()', '@wraps(f)')}"
            "for fold in range(9):\n    make(w)\n"
        ),
    ],
)
def test_what_is_registered_once_is_acquitted(text):
    assert codes(text) == []


NUMERICS = "tf.debugging.enable_check_numerics()\n"
MODELS = "for n in range(9):\n    model = keras.Sequential([])\n    model.predict(x)\n"


def test_the_check_of_numbers_is_found_where_a_loop_makes_models():
    assert found(NUMERICS + MODELS) == [("LW214", 7)]


@pytest.mark.parametrize(
    "text",
    [
        MODELS,
        f"{NUMERICS}tf.debugging.disable_check_numerics()\n{MODELS}",
        f"{NUMERICS}model = keras.Sequential([])\nfor n in range(9):\n    model.predict(x)\n",
        f"{NUMERICS}for n in range(9):\n    model = keras.Sequential([])\n    model(x)\n",
    ],
)
def test_a_check_that_keeps_no_graph_of_each_round_is_acquitted(text):
    assert codes(text) == []


SCORER = (
    "class Scorer:\n    def __call__(self, x):\n"
    "        return tf.function(f, jit_compile=True)(x)\n"
)


def test_what_xla_compiles_in_each_round_is_found():
    compiled = "model.compile('sgd', 'mse', jit_compile=True)\n"
    loop = "for n in range(9):\n    model = keras.Sequential([])\n    "

    assert found(f"{loop}{compiled}") == [("LW210", 6)]
    assert codes("for n in range(9):\n    tf.function(f, jit_compile=True)(x)\n") == ["LW210"]
    assert codes(f"{SCORER}for n in range(9):\n    Scorer()(x)\n") == ["LW210"]
    assert codes(f"{SCORER}Scorer()(x)\n") == []
    assert codes(f"{loop}{compiled.replace('True', 'False')}") == []
    assert (
        codes(f"model = keras.Sequential([])\n{compiled}for n in range(9):\n    model(x)\n") == []
    )
    assert codes("f = tf.function(g, jit_compile=True)\nfor n in range(9):\n    f(x)\n") == []


BASE = "base = keras.applications.MobileNetV2()\n"
HEADS = "    keras.Model(base.input, layers.Dense(n)(base.output))\n"


def test_a_new_head_on_an_old_model_is_found():
    [finding] = findings_in(f"{HEAD}{BASE}for n in range(4, 99):\n{HEADS}")

    assert (finding.code, finding.span.line) == ("LW212", 6)
    assert finding.message == (
        "A new layer is put on `base` in every iteration, and `base` keeps each."
    )


@pytest.mark.parametrize(
    "text",
    [
        f"{BASE}n = 9\nif n:\n{HEADS}",
        f"for n in range(4, 99):\n    {BASE}{HEADS}",
        (
            f"{BASE}for n in range(4, 99):\n    copy = keras.models.clone_model(base)\n"
            "    keras.Model(copy.input, layers.Dense(n)(copy.output))\n"
        ),
        f"{BASE}head = layers.Dense(9)\nfor n in range(4, 99):\n    head(base(x))\n",
    ],
)
def test_a_head_on_a_model_of_the_round_is_acquitted(text):
    assert codes(text) == []
