"""Empties an object that others still refer to, and leaves a shell that says so when used."""

from typing import Any, NoReturn

from lowwater.errors import AlreadyReleased, UserError
from lowwater.giveback.living import what_is

_NOTE = "_lowwater_released"


class Shell:
    """What is left of an emptied object: its place in memory, and the story of its end."""

    def __getattr__(self, name: str) -> NoReturn:
        """Refuse whatever the object could do once."""
        if name.startswith("__") and name.endswith("__"):
            # Tools ask any object for these; they expect no for an answer, not a story.
            raise AttributeError(name)
        raise AlreadyReleased(_story(self))

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AlreadyReleased(_story(self))

    def __call__(self, *_: object, **__: object) -> NoReturn:
        """Refuse a forward pass."""
        raise AlreadyReleased(_story(self))

    def __repr__(self) -> str:
        return f"<{_story(self)}>"


def is_shell(thing: object) -> bool:
    """Whether this object was emptied before."""
    return type(thing) is Shell


def story_of(thing: object) -> str:
    """Which object it was, and where it was released."""
    return _story(thing)


def empty(thing: Any, where: str) -> str:  # noqa: ANN401 - a model, a layer, an optimizer …
    """Take all that an object holds, and return what it was; the next collection frees it."""
    what = what_is(thing)
    content = object.__getattribute__(thing, "__dict__")
    try:
        object.__setattr__(thing, "__class__", Shell)
    except TypeError as error:
        raise UserError("This object cannot be emptied", received=what) from error
    # One after the other would let a finalizer see half an object: first all is taken out.
    taken = dict(content)
    content.clear()
    content[_NOTE] = f"{what} was released at {where}"
    taken.clear()
    return what


def _story(thing: object) -> str:
    content = object.__getattribute__(thing, "__dict__")
    return str(content.get(_NOTE, "this object was released"))
