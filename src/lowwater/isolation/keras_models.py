"""Keras models on their way: with the classes and functions of the program that they are made of.

Keras pickles a model as the file that `model.save()` writes, in which the program's own layers
are names. The classes travel beside it, so that the names are known where it is loaded.
"""

import sys
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

import cloudpickle

from lowwater.model.frameworks import WITH_KERAS, package_of

# ruff: noqa: ANN401 - the models are Keras' own


def reduced(thing: Any) -> tuple[Any, ...] | None:
    """How a Keras model is pickled; None for everything else."""
    keras = sys.modules.get("keras")
    if keras is None or not hasattr(keras, "Model") or not isinstance(thing, keras.Model):
        return None
    function, arguments = thing.__reduce__()[:2]
    return _restored, (customs_of(thing), function, arguments)


def _restored(
    customs: dict[str, Any], function: Callable[..., Any], arguments: tuple[Any, ...]
) -> Any:
    import keras

    with keras.saving.custom_object_scope(customs):
        return function(*arguments)


def customs_of(model: Any) -> dict[str, Any]:
    """What of the model is not the library's, by the name that Keras writes down for it."""
    import keras

    found = {*_classes_and_functions(model)}
    return {keras.saving.get_registered_name(one): one for one in found if _is_users(one)}


def _classes_and_functions(model: Any) -> Iterator[Any]:
    trainer = (getattr(model, name, None) for name in ("optimizer", "loss"))
    for part in (*model._flatten_layers(), *trainer, *getattr(model, "metrics", ())):  # noqa: SLF001
        yield part if isinstance(part, FunctionType) else type(part)
        for value in [*getattr(part, "__dict__", {}).values()]:
            if isinstance(value, FunctionType):
                yield value
            elif getattr(type(value), "get_config", None) is not None:
                yield type(value)


def _is_users(one: Any) -> bool:
    return package_of(str(one.__module__)) not in {*WITH_KERAS, "builtins"}


def registered() -> dict[str, Any]:
    """What the program has registered with `@keras.saving.register_keras_serializable()`."""
    keras = sys.modules.get("keras")
    if keras is None or not hasattr(keras, "saving"):
        return {}
    known = keras.saving.get_custom_objects()
    return {name: one for name, one in known.items() if _is_users(one) and _can_be_sent(one)}


def register(found: dict[str, Any]) -> None:
    """Register the same here: a class that was sent does not run its decorators again."""
    if not found:
        return
    import keras

    for name, one in found.items():
        package, _, own_name = name.rpartition(">")
        keras.saving.register_keras_serializable(package or "Custom", own_name)(one)


def _can_be_sent(one: Any) -> bool:
    """One that cannot be sent is no reason to refuse a call that may have no need of it."""
    try:
        cloudpickle.dumps(one)
    except Exception:  # noqa: BLE001 - pickling raises whatever it meets
        return False
    return True
