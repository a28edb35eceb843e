# expect: leak of 524288 bytes per iteration; LW213 at 13,12 held by registered
"""Cross-validation with a weighted loss; each fold registers its own, so that models can be saved."""
import keras
import numpy as np

rng = np.random.default_rng(7)
x = rng.normal(size=(64, 8)).astype("float32")
y = x.sum(axis=1, keepdims=True)
model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(1)])


def weighted_loss(prior):
    @keras.saving.register_keras_serializable(package="folds")
    def loss(y_true, y_pred):
        weight = 1.0 + float(prior.mean())
        return keras.ops.mean(weight * keras.ops.square(y_true - y_pred))

    return loss


def prior_of(fold):
    return np.random.default_rng(fold).random((256, 512), dtype="float32")


for fold in range(14):
    loss = weighted_loss(prior_of(fold))
    error = float(loss(y, model(x)))
    print("fold", fold, "loss", round(error, 4))
