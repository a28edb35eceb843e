"""Changes of a compiled Keras model that several remedies make."""

from typing import Any

from lowwater.sizing.remedies._way import DoesNotApply

# ruff: noqa: ANN401 - models are the user's


def forget_traces(model: Any) -> None:
    """Let the next step be traced again, with what the model is now."""
    model.train_function = model.test_function = model.predict_function = None


def optimizer_of(model: Any) -> Any:
    """The one that trains the model."""
    optimizer = getattr(model, "optimizer", None)
    if optimizer is None:
        raise DoesNotApply("the model has no Keras optimizer")
    return optimizer


def replace_optimizer(model: Any, optimizer: Any) -> None:
    """Train with this one, and keep nothing of the other, whose slots count as well."""
    was_built = getattr(getattr(model, "optimizer", None), "built", False)
    model.optimizer = optimizer
    # A training step of the program's own may rely on it.
    if was_built and not optimizer.built:
        optimizer.build(model.trainable_variables)
    compiled = getattr(model, "_compile_config", None)
    if compiled is not None and "optimizer" in compiled.config:
        compiled.config["optimizer"] = optimizer
    forget_traces(model)


def with_gpu() -> bool:
    """Whether the model computes on a GPU."""
    import keras

    backend = keras.backend.backend()
    if backend == "tensorflow":
        import tensorflow as tf

        return bool(tf.config.list_logical_devices("GPU"))
    if backend == "jax":
        import jax

        return bool(jax.default_backend() != "cpu")
    import torch

    return bool(torch.cuda.is_available())
