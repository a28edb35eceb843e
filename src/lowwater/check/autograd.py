"""Losses of torch that are kept with the graph that they were computed by."""

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from lowwater.check.additions import additions
from lowwater.check.bounds import is_bounded
from lowwater.check.lookup import binder, scope_of
from lowwater.check.places import place_of
from lowwater.check.rounds import Round
from lowwater.check.scopes import Binding, How, SourceScope

if TYPE_CHECKING:
    from lowwater.check.source import Source


class KeptLoss(NamedTuple):
    """A statement that keeps a loss which was not detached."""

    node: ast.expr | ast.stmt
    keeper: str
    loss: str


def kept_losses(source: "Source") -> Iterator[KeptLoss]:
    """What a loop keeps of the tensors that it calls `backward()` of."""
    if "torch" not in source.file.text:
        return
    for call in source.calls_of("backward"):
        loss, loops = source.receiver(call), source.loops_around(call)
        if isinstance(loss, ast.Name) and loops:
            for loop in loops:
                yield from _kept_in(source, loss, Round("iteration", loop))


def _kept_in(source: "Source", loss: ast.Name, repeated: Round) -> Iterator[KeptLoss]:
    scope = scope_of(loss)
    for added in additions(scope):
        place = place_of(added.container)
        is_loss = _is_plain(added.value, loss)
        if is_loss and place is not None and repeated.holds(added.node):
            is_kept = not is_bounded(source, place, repeated)
            if is_kept and _is_before(place.scope, place.name, repeated):
                yield KeptLoss(added.node, ast.unparse(added.container), loss.id)
    for name, bindings in scope.binds.items():
        for one in bindings:
            is_summed = _sums(one, loss) and repeated.holds(one.node)
            if is_summed and _is_before(scope, name, repeated):
                if _goes_back(source, name, scope):
                    continue
                yield KeptLoss(one.node, name, loss.id)


def _sums(binding: Binding, loss: ast.Name) -> bool:
    """`total += loss`."""
    return binding.how is How.AUGMENTED and _is_plain(binding.value, loss)


def _is_plain(value: ast.expr | None, loss: ast.Name) -> bool:
    """Whether a value is the loss as it is, and not a number made of it."""
    if isinstance(value, ast.List | ast.Tuple):
        return any(_is_plain(one, loss) for one in value.elts)
    if not isinstance(value, ast.Name) or value.id != loss.id:
        return False
    return binder(loss.id, scope_of(loss)) is binder(loss.id, scope_of(value))


def _is_before(scope: SourceScope, name: str, repeated: Round) -> bool:
    """Whether the keeper is older than the loop: an attribute, or bound before it."""
    bound = scope.binds.get(name, [])
    made = [one.node for one in bound if one.how in (How.VALUE, How.PART)]
    return bool(made) and not any(repeated.holds(one) for one in made)


def _goes_back(source: "Source", name: str, scope: SourceScope) -> bool:
    """Whether the sum is itself what the gradients are computed of, or is detached."""
    for call in source.calls_of("backward", "detach_"):
        owner = source.receiver(call)
        if isinstance(owner, ast.Name) and owner.id == name and scope_of(owner) is scope:
            return True
    return False
