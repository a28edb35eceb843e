"""Each way to need less memory on real models: what it saves, what it leaves as it is."""

import numpy as np
import pytest

pytestmark = pytest.mark.tensorflow


def subject(model, x, y):
    from lowwater.sizing.samples import samples_of
    from lowwater.sizing.subject import Subject

    return Subject(model, samples_of(x, y))


def images(channels=3):
    return np.random.default_rng(0).random((16, 16, 16, channels), "float32")


def targets():
    return np.arange(16, dtype="float32")[:, None]


def model_of(*layers, shape=(16, 16, 3), optimizer="adam"):
    import keras

    model = keras.Sequential([keras.Input(shape), *layers])
    model.compile(optimizer, "mse")
    return model


def losses(model, x, y, steps=3):
    return [float(model.train_on_batch(x, y)) for _ in range(steps)]


def test_recomputing_changes_no_loss_and_leaves_dropout_and_batch_normalisation_alone():
    import keras

    from lowwater.sizing.remedies.rematerialisation import Rematerialisation, _repeatable

    def made():
        keras.utils.set_random_seed(0)
        layers = keras.layers
        return model_of(
            layers.Conv2D(4, 3, activation="gelu", name="kept"),
            layers.BatchNormalization(),
            layers.Dropout(0.5, seed=1),
            layers.GlobalAveragePooling2D(),
            layers.Dense(1),
        )

    plain = losses(made(), images(), targets())
    changed = Rematerialisation()(subject(made(), images(), targets())).model
    wrapped = [layer for layer in changed.layers if "call" in vars(layer)]

    assert losses(changed, images(), targets()) == pytest.approx(plain, rel=1e-5)
    assert {type(layer).__name__ for layer in wrapped} == {
        "Conv2D",
        "GlobalAveragePooling2D",
        "Dense",
    }
    assert len([*_repeatable(changed)]) == 3


def test_what_only_draws_masks_cannot_be_recomputed():
    import keras

    from lowwater.sizing.remedies import DoesNotApply
    from lowwater.sizing.remedies.rematerialisation import Rematerialisation

    model = model_of(keras.layers.LSTM(1, dropout=0.1), shape=(4, 2))
    with pytest.raises(DoesNotApply, match="computed twice"):
        Rematerialisation()(subject(model, np.ones((16, 4, 2)), targets()))


def test_a_subclass_with_a_train_step_of_its_own_computes_with_16_bits():
    import keras
    import tensorflow as tf

    from lowwater.sizing.remedies import DoesNotApply
    from lowwater.sizing.remedies.mixed_precision import MixedPrecision

    class Own(keras.Model):
        def __init__(self):
            super().__init__()
            self.inner = keras.layers.Dense(1)
            self.seen = []

        def call(self, inputs):
            outputs = self.inner(inputs)
            self.seen.append(outputs.dtype)
            return outputs

        def train_step(self, data):
            x, y = data[:2]
            with tf.GradientTape() as tape:
                loss = self.compute_loss(y=y, y_pred=self(x))
            gradients = tape.gradient(loss, self.trainable_variables)
            self.optimizer.apply(gradients, self.trainable_variables)
            return {"loss": loss}

    model = Own()
    model.compile("sgd", "mse")
    x = np.ones((16, 3), "float32")
    model.train_on_batch(x, targets())
    changed = MixedPrecision()(subject(model, x, targets())).model
    changed.train_on_batch(x, targets())

    assert changed.seen[-1] == "bfloat16"
    assert str(changed.inner.kernel.dtype) == "float32"
    with pytest.raises(DoesNotApply, match="32 bits"):
        MixedPrecision()(subject(changed, x, targets()))


def test_gradients_of_parts_are_added_up_to_one_update():
    import keras

    from lowwater.sizing.remedies import DoesNotApply
    from lowwater.sizing.remedies.gradient_accumulation import GradientAccumulation

    model = model_of(keras.layers.Flatten(), keras.layers.Dense(1), optimizer="sgd")
    before = model.get_weights()
    changed = GradientAccumulation(2)(subject(model, images(), targets())).model
    changed.train_on_batch(images()[:8], targets()[:8])
    half_way = changed.get_weights()
    changed.train_on_batch(images()[8:], targets()[8:])

    assert np.array_equal(before[0], half_way[0])
    assert not np.array_equal(before[0], changed.get_weights()[0])
    with pytest.raises(DoesNotApply, match="already"):
        GradientAccumulation(2)(subject(changed, images(), targets()))


def test_plain_sgd_has_no_slots_and_is_no_news_to_one_that_trains_with_it():
    import keras

    from lowwater.sizing.remedies import DoesNotApply
    from lowwater.sizing.remedies.plain_sgd import PlainSGD

    model = model_of(keras.layers.Flatten(), keras.layers.Dense(1))
    weights = model.get_weights()
    changed = PlainSGD()(subject(model, images(), targets())).model

    assert all(np.array_equal(*pair) for pair in zip(weights, changed.get_weights(), strict=True))
    changed.train_on_batch(images(), targets())
    assert sum(int(np.prod(one.shape)) for one in changed.optimizer.variables) <= 2
    with pytest.raises(DoesNotApply, match="already"):
        PlainSGD()(subject(changed, images(), targets()))


def test_one_step_per_execution_is_only_for_those_with_more():
    import keras

    from lowwater.sizing.remedies import DoesNotApply
    from lowwater.sizing.remedies.one_step_per_execution import OneStepPerExecution

    model = model_of(keras.layers.Flatten(), keras.layers.Dense(1))
    with pytest.raises(DoesNotApply, match="already 1"):
        OneStepPerExecution()(subject(model, images(), targets()))
    model.compile("adam", "mse", steps_per_execution=4)

    assert OneStepPerExecution()(subject(model, images(), targets())).model.steps_per_execution == 1


def test_smaller_images_where_the_model_can_be_made_for_them():
    import keras

    from lowwater.sizing.remedies import DoesNotApply
    from lowwater.sizing.remedies.smaller_inputs import SmallerInputs

    layers = keras.layers
    pooled = model_of(layers.Conv2D(4, 3), layers.GlobalMaxPooling2D(), layers.Dense(1))
    weights = pooled.get_weights()
    changed = SmallerInputs()(subject(pooled, images(), targets()))

    assert changed.samples.parts[0].shape == (16, 8, 8, 3)
    assert changed.samples.parts[1].shape == (16, 1)
    assert changed.model.input_shape == (None, 8, 8, 3)
    assert all(np.array_equal(*p) for p in zip(weights, changed.model.get_weights(), strict=True))
    changed.model.train_on_batch(*changed.samples.parts)

    flat = model_of(layers.Flatten(), layers.Dense(1))
    with pytest.raises(DoesNotApply, match="cannot be built for smaller inputs"):
        SmallerInputs()(subject(flat, images(), targets()))
    table = model_of(layers.Dense(1), shape=(8,))
    with pytest.raises(DoesNotApply, match="neither images nor sequences"):
        SmallerInputs()(subject(table, np.ones((16, 8), "float32"), targets()))


def test_masks_are_cut_with_their_images():
    import keras

    from lowwater.sizing.remedies.smaller_inputs import SmallerInputs

    model = model_of(keras.layers.Conv2D(1, 3, padding="same"), shape=(None, None, 3))
    changed = SmallerInputs()(subject(model, images(), images(channels=1)))

    assert changed.samples.parts[1].shape == (16, 8, 8, 1)
    changed.model.train_on_batch(*changed.samples.parts)


def test_real_steps_show_what_each_way_saves():
    import keras

    from lowwater.sizing.remedies.gradient_accumulation import GradientAccumulation
    from lowwater.sizing.remedies.one_step_per_execution import OneStepPerExecution
    from lowwater.sizing.remedies.plain_sgd import PlainSGD
    from lowwater.sizing.what_helps import Wanted, remedies_for

    # Activations are nearly all: 16 MiB for each of the three layers at batch 256.
    wide = [keras.layers.Dense(16384, activation="relu"), keras.layers.Activation("tanh")]
    model = model_of(*wide, keras.layers.Dense(1), shape=(1,))
    x = np.ones((16, 1), "float32")
    ways = (GradientAccumulation(), PlainSGD(), OneStepPerExecution())
    rows = remedies_for(subject(model, x, targets()), Wanted(256, 200, 48 << 20), ways)
    found = {row.name: row for row in rows}

    plain = found["as it is"].peak_bytes
    assert plain, found["as it is"].because
    assert found["gradient accumulation, 2 x 128"].peak_bytes < 0.7 * plain
    assert found["SGD"].because == "saves nothing here"
    assert found["steps_per_execution=1"].because.startswith("does not apply: it is already 1")
