"""What a function that a pipeline maps does to the elements: augment them, decode them."""

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from lowwater.check.lookup import binder, scope_of
from lowwater.check.scopes import SourceScope, around
from lowwater.check.things import ValueKind

if TYPE_CHECKING:
    from lowwater.check.source import Source

_MOST_HOPS: Final = 3
_DRAWS: Final = frozenset(
    f"tensorflow.random.{name}" for name in ("uniform", "normal", "truncated_normal", "gamma")
)
_DECODERS: Final = (
    "tensorflow.io.read_file", "tensorflow.io.decode_", "tensorflow.image.decode_",
    "tensorflow.io.parse_tensor", "tensorflow.audio.decode_",
    "tensorflow.v1.read_file", "tensorflow.v1.decode_", "tensorflow.v1.image.decode_",
    "tensorflow.read_file", "tensorflow.decode_raw", "numpy.load", "cv2.imread", "PIL.Image.open",
)  # fmt: skip
_MAKERS: Final = frozenset(
    {*_DRAWS, "tensorflow.random.stateless_uniform", "tensorflow.random.stateless_normal"}
)


def augments(source: "Source", mapped: ast.expr) -> bool:
    """Whether a mapped function changes its element at random, whatever the program is set to."""
    for scope, call in calls_in(source, mapped):
        if not _is_choice(call) and _is_random(source, scope, call):
            return True
    return False


def decodes(source: "Source", mapped: ast.expr) -> bool:
    """Whether a mapped function makes a large element of a small one: an image of a path."""
    return any(
        thing.name.startswith(_DECODERS) or _fills(call, thing.name)
        for _, call in calls_in(source, mapped)
        for thing in source.things(call.func)
        if thing.scope is None
    )


def calls_in(source: "Source", mapped: ast.expr) -> Iterator[tuple[SourceScope, ast.Call]]:
    """All calls of a function of the project, and of those that it calls, with the function."""
    waiting = [(scope, _MOST_HOPS) for scope in _functions(source, mapped)]
    seen = {scope for scope, _ in waiting}
    for scope, hops in waiting:
        for inner in scope.inside():
            for call in inner.calls:
                yield scope, call
                if hops:
                    found = [one for one in _functions(source, call.func) if one not in seen]
                    seen.update(found)
                    waiting += [(one, hops - 1) for one in found]


def calls_in_mapped(source: "Source", mapped: ast.expr) -> Iterator[ast.Call]:
    """All calls of a mapped function, and of those of the project that it calls."""
    for _, call in calls_in(source, mapped):
        yield call


def _functions(source: "Source", node: ast.expr) -> list[SourceScope]:
    scopes = (thing.scope for thing in source.things(node))
    return [one for one in scopes if one is not None and not one.is_class]


def _is_choice(call: ast.Call) -> bool:
    """Whether a call is made in one case only: `if training:`."""
    for outer in around(call):
        if isinstance(outer, ast.If | ast.IfExp):
            return True
        if isinstance(outer, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            return False
    return False


def _is_random(source: "Source", scope: SourceScope, call: ast.Call) -> bool:
    for thing in source.things(call.func):
        if thing.scope is None and thing.name.startswith("tensorflow.image.random_"):
            return True
        if thing.name in _DRAWS and _uses_its_element(scope):
            return True
        if thing.kind in (ValueKind.LAYER, ValueKind.MODEL) and not _is_off(call):
            return _is_random_layer(source, call.func)
    return False


def _uses_its_element(scope: SourceScope) -> bool:
    """Whether a function makes its result of what it is given, and not of the draw alone."""
    given = {one.arg for one in scope.parameters}
    return any(
        isinstance(node, ast.Name) and node.id in given and isinstance(node.ctx, ast.Load)
        for node in ast.walk(scope.node)
    )


def _is_off(call: ast.Call) -> bool:
    """`augment(x, training=False)`."""
    return any(
        one.arg == "training" and isinstance(one.value, ast.Constant) and not one.value.value
        for one in call.keywords
    )


def _is_random_layer(source: "Source", func: ast.expr) -> bool:
    """Whether a layer, or a model of layers, is made of those that draw at random."""
    for value in _values(source, func):
        for part in ast.walk(value):
            if isinstance(part, ast.Call) and any(
                thing.name.startswith("keras.layers.") and thing.last_name.startswith("Random")
                for thing in source.things(part.func)
            ):
                return True
    return False


def _values(source: "Source", func: ast.expr) -> Iterator[ast.expr]:
    """The expressions that a called name or attribute was given."""
    bound = []
    if isinstance(func, ast.Name):
        holder = binder(func.id, scope_of(func))
        bound = [] if holder is None else holder.binds[func.id]
    elif isinstance(func, ast.Attribute):
        for owner in source.things(func.value):
            if owner.scope is not None and owner.scope.is_class:
                bound = source.names.field_bindings(owner.scope, func.attr)
    for one in bound:
        if one.value is not None:
            yield one.value


def _fills(call: ast.Call, name: str) -> bool:
    """`tf.random.uniform((64, 64, 3))` makes an image of a number."""
    shape = call.args[0] if call.args else None
    return name in _MAKERS and isinstance(shape, ast.Tuple | ast.List) and len(shape.elts) > 1
