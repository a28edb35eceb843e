"""`lowwater.release()`: checks what it is given, then climbs the ladder."""

from collections.abc import Iterator
from typing import Any, get_args

from lowwater.errors import StillInUse, UsageError
from lowwater.giveback.frames import calling_line
from lowwater.giveback.hollow import is_shell, story_of
from lowwater.giveback.in_use import at_work
from lowwater.giveback.ladder import climb
from lowwater.giveback.living import LAYER, MODEL, OPTIMIZER, Watched, kind_of, what_is
from lowwater.giveback.parts import parts_of, parts_of_others
from lowwater.giveback.receipt import Receipt
from lowwater.giveback.request import Level, ReleaseRequest, one_at_a_time

_HOLLOWABLE = (MODEL, LAYER, OPTIMIZER)
_OTHER = "object"


def release(
    *objects: object,
    level: Level = "thorough",
    hollow: bool = False,
    force: bool = False,
    notebook: bool = False,
) -> Receipt:
    """Free the memory of these objects, and of everything that is no longer used.

    Level `gentle` drops references, collects garbage, closes the sessions that you pass, frees
    graphs that only TensorFlow's gradient registry holds, and trims the heap. It does not affect
    live objects. Level `thorough` also clears the global state of Keras, unless a model is in
    use, and the caches of JAX and torch.

    With `hollow=True`, models, layers and optimizers are emptied even if you still refer to
    them; using one afterwards is an error. `force=True` clears the state of Keras even if models
    are alive, and closes all sessions. `notebook=True` drops the outputs that IPython keeps.
    """
    if level not in get_args(Level):
        raise UsageError(
            "unknown level", received=repr(level), advice='level="gentle" or "thorough"'
        )
    request = ReleaseRequest(
        where=calling_line(), level=level, hollow=hollow, force=force, notebook=notebook
    )
    with one_at_a_time:
        for thing in objects:
            _take(thing, request)
        if objects:
            request.looked_for = "nothing that was given"
        _refuse_those_at_work(objects)
        if hollow:
            _refuse_parts_of_others(request)
        # From here on only the caller may hold them.
        del objects
        thing = None
        return climb(request)


def _take(thing: Any, request: ReleaseRequest) -> None:  # noqa: ANN401 - this is where it is checked
    if is_shell(thing):
        request.notes.append(f"nothing to do: {story_of(thing)}")
        return
    kind = kind_of(thing)
    if request.hollow and kind not in _HOLLOWABLE:
        raise UsageError(
            "hollow=True empties only Keras models, layers and optimizers",
            received=_told(thing),
            advice="release(...) without hollow",
        )
    try:
        request.given.append(Watched.of(thing, kind or _OTHER))
    except TypeError:
        raise UsageError(
            "release() takes models, optimizers, data sets, sessions and other objects that "
            "support weak references",
            received=_told(thing),
            advice=(
                "release(*models) for a list of models, or release() for everything that is unused"
            ),
        ) from None
    if kind in _HOLLOWABLE:
        request.parts += _parts(thing)


def _parts(thing: Any) -> Iterator[Watched]:  # noqa: ANN401
    for part in parts_of(thing):
        kind = kind_of(part) if part is not thing else None
        if kind is not None:
            yield Watched.of(part, kind)


def _told(thing: Any) -> str:  # noqa: ANN401
    return "None" if thing is None else what_is(thing)


def _refuse_those_at_work(objects: tuple[object, ...]) -> None:
    for model, call in at_work():
        busy = {id(part) for part in parts_of(model)}
        for thing in objects:
            if id(thing) in busy:
                raise StillInUse(
                    f"{what_is(thing)} is in use by {call}, so nothing was released",
                    advice="release it after that call returns",
                )


def _refuse_parts_of_others(request: ReleaseRequest) -> None:
    others = parts_of_others(request.given)
    for one in request.given:
        if one.identity in others:
            raise StillInUse(
                f"{one.what} is part of another live model, so nothing was emptied",
                advice="release that model too, or release it first",
            )
