"""Objects that stay with the caller: the child has a stand-in, whose calls are made here.

An Optuna trial belongs to its study and to its storage. A copy of it would report to nobody;
the stand-in asks the real one.
"""

import sys
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

from lowwater.isolation.local.channel import Channel

ASK = "ask"


class LoanQuestion(NamedTuple):
    """One call, or the reading of an attribute, of a lent object."""

    number: int
    name: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]


class Lender:
    """The caller's side: keeps the objects for as long as the call runs."""

    def __init__(self) -> None:
        """Nothing is lent yet."""
        self._lent: list[Any] = []

    @property
    def stays_here(self) -> Callable[[Any], int | None] | None:
        """Gives an object that is lent its number; None where there can be no such object."""
        # Asked for every object that is packed.
        optuna = sys.modules.get("optuna")
        if optuna is None:
            return None
        kind = optuna.trial.Trial

        def number_of(thing: Any) -> int | None:  # noqa: ANN401
            if not isinstance(thing, kind):
                return None
            for number, known in enumerate(self._lent):
                if known is thing:
                    return number
            self._lent.append(thing)
            return len(self._lent) - 1

        return number_of

    def answer(self, question: LoanQuestion) -> tuple[bool, Any]:
        """What the real object says: whether it answered, and the value or the exception."""
        try:
            found = getattr(self._lent[question.number], question.name)
            value = found(*question.args, **question.kwargs) if callable(found) else found
        except Exception as error:  # noqa: BLE001 - it is the child's to handle
            return False, error
        return True, value


class Borrower:
    """The child's side: makes the stand-ins, and asks for them."""

    def __init__(self, channel: Channel) -> None:
        """Ask through this channel."""
        self._channel = channel
        self._asking = threading.Lock()
        self._stand_ins: dict[int, Any] = {}

    def load(self, number: int) -> Any:  # noqa: ANN401
        """The stand-in for a lent object: one, however often it was given."""
        from lowwater.isolation.adapters.optuna import stand_in

        if number not in self._stand_ins:
            self._stand_ins[number] = stand_in(self._asker(number))
        return self._stand_ins[number]

    def _asker(self, number: int) -> Callable[..., Any]:
        def ask(name: str, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
            with self._asking:
                self._channel.send(ASK, LoanQuestion(number, name, args, kwargs))
                message = self._channel.receive()
            if message is None:
                raise ConnectionError("the caller has ended")
            answered, value = message.body
            if not answered:
                raise value
            return value

        return ask
