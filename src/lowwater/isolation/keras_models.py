"""Keras models on their way: with the classes and functions of the program that they are made of.

Keras pickles a model as the file that `model.save()` writes, in which the program's own layers
are names. The classes travel beside it, so that the names are known where it is loaded.
"""

import inspect
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FunctionType
from typing import Any

import cloudpickle

from lowwater.model.frameworks import KERAS, WITH_KERAS, package_of

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

    with keras.saving.custom_object_scope(customs), _made_without_what_they_do_not_take(customs):
        return function(*arguments)


@contextmanager
def _made_without_what_they_do_not_take(customs: dict[str, Any]) -> Iterator[None]:
    """Let layers be made again whose `__init__` takes only arguments of their own.

    Keras writes down their name, their dtype and whether they train, and then passes these to
    `__init__` as well. Most layers that users write do not take them; here they are set instead.
    """
    import keras

    plain: list[Any] = [
        one
        for one in customs.values()
        if isinstance(one, type)
        and issubclass(one, keras.layers.Layer)
        and _is_of_keras(getattr(one, "from_config", None))
        and _takes_no_keywords(one)
    ]
    for one in plain:
        one.from_config = classmethod(_from_config_of(one.from_config))
    try:
        yield
    finally:
        for one in plain:
            del one.from_config


def _takes_no_keywords(kind: Any) -> bool:
    kinds = {one.kind for one in inspect.signature(kind.__init__).parameters.values()}
    return inspect.Parameter.VAR_KEYWORD not in kinds


def _is_of_keras(method: Any) -> bool:
    return package_of(str(getattr(method, "__module__", ""))) in KERAS


def _from_config_of(original: Callable[..., Any]) -> Callable[..., Any]:
    def from_config(kind: Any, config: dict[str, Any], *others: Any, **options: Any) -> Any:
        try:
            return original(config, *others, **options)
        except TypeError:
            return _made_of(kind, config)

    return from_config


def _made_of(kind: Any, config: dict[str, Any]) -> Any:
    import keras

    known = inspect.signature(kind.__init__).parameters
    layer = kind(**{name: value for name, value in config.items() if name in known})
    rest = {name: value for name, value in config.items() if name not in known}
    if "name" in rest:
        layer.name = rest["name"]
    if "dtype" in rest:
        layer.dtype_policy = keras.dtype_policies.get(rest["dtype"])
    if "trainable" in rest:
        layer.trainable = rest["trainable"]
    return layer


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
