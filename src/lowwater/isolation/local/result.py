"""What the child answers: a value, or an exception with the text of its traceback."""

import traceback
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Literal

from lowwater.errors import ChildDied, NotPicklable
from lowwater.isolation.parcel import Parcel, pack, unpack
from lowwater.isolation.postmortem import examine
from lowwater.model.user_code import is_own

Kind = Literal["returned", "raised"]


class ChildTraceback(Exception):
    """The cause of an exception that came from another process: its traceback, as text."""

    def __init__(self, text: str) -> None:
        """Take the text as the child printed it."""
        super().__init__(text)
        self.text = text

    def __str__(self) -> str:
        return f"\n\n{self.text.rstrip()}\n"


@dataclass(frozen=True, slots=True)
class Result:
    """Packed, so that it can be passed on by those who have no use for its content."""

    kind: Kind
    parcel: Parcel


def result_of(function: Callable[[], Any], maps: str | None = None) -> Result:
    """Call it and pack what it returns or raises; `maps` are those of TensorFlow's pool."""
    try:
        value = function()
    except BaseException as error:  # noqa: BLE001 - also `sys.exit()`, which ends the child only
        return raised(error, maps)
    try:
        return Result("returned", pack(value))
    except Exception as error:  # noqa: BLE001 - the objects of a program raise what they like
        kind = type(value).__qualname__
        return raised(
            NotPicklable(
                "The function's return value cannot be sent to another process",
                received=f"a {kind}: {error}",
                advice="return numbers, arrays, dictionaries of them, or a Keras model",
            )
        )


def raised(error: BaseException, maps: str | None = None) -> Result:
    """The exception, without the frames of ours; as text only, if it cannot be pickled."""
    text = "".join(traceback.format_exception(type(error), error, _of_the_user(error)))
    examine(error, maps)
    if isinstance(error, SystemExit):
        error = ChildDied(f"The function ended its process with sys.exit({error.code!r})")
    told = "".join(traceback.format_exception_only(type(error), error)).strip()
    stand_in = ChildDied(f"The function raised {told}")
    if hasattr(error, "autopsy"):
        vars(stand_in)["autopsy"] = error.autopsy
    ways = (error, _Bare(error), stand_in)
    has_autopsy = hasattr(error, "autopsy")
    parcels = (_there_and_back((one, text), has_autopsy=has_autopsy) for one in ways)
    return Result("raised", next(filter(None, parcels)))


def _there_and_back(value: Any, *, has_autopsy: bool) -> Parcel | None:  # noqa: ANN401
    """The packed value, if it can be unpacked again, and nothing is lost as by TensorFlow's."""
    try:
        parcel = pack(value)
        error, _ = unpack(parcel)
    except Exception:  # noqa: BLE001 - whatever pickling the exception runs into
        return None
    return None if has_autopsy and not hasattr(error, "autopsy") else parcel


class _Bare:
    """Is unpickled as the exception, without its constructor, which may want other arguments."""

    def __init__(self, error: BaseException) -> None:
        self._error = error

    def __reduce__(self) -> tuple[Any, ...]:
        return _made_bare, (type(self._error), self._error.args, vars(self._error))


def _made_bare(
    kind: type[BaseException], args: tuple[Any, ...], attributes: dict[str, Any]
) -> BaseException:
    error = kind.__new__(kind)
    error.args = args
    vars(error).update(attributes)
    return error


def _of_the_user(error: BaseException) -> TracebackType | None:
    """The frames of the function: those that led to it are ours."""
    frames = error.__traceback__
    while frames is not None and is_own(frames.tb_frame.f_code.co_filename):
        frames = frames.tb_next
    return frames or error.__traceback__


def value_of(result: Result) -> Any:  # noqa: ANN401
    """The value, here; or the child's exception, raised here, caused by its traceback."""
    if result.kind == "returned":
        return unpack(result.parcel)
    error, text = unpack(result.parcel)
    raise error from ChildTraceback(text)
