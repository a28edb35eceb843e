"""Asks somebody who may never answer, and does not wait longer than is reasonable.

The call of a library cannot be ended from outside. So it is made in a thread of its own, and left
alone if it takes too long; until it returns, nobody asks again.
"""

import threading
from collections.abc import Callable
from typing import Final, Generic, TypeVar

from lowwater.model.interruption import let_through

T = TypeVar("T")


class NoAnswerError(Exception):
    """It took too long, or an earlier question still waits for its answer."""


class _Asking(threading.Thread, Generic[T]):
    def __init__(self, question: Callable[[], T]) -> None:
        super().__init__(daemon=True, name="lowwater-asks")
        self._question = question
        self.answer: list[T] = []
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            self.answer.append(self._question())
        except BaseException as error:  # noqa: BLE001 - raised again where the answer is awaited
            self.error = error


class Patience:
    """One for everybody who may hang: a driver, say."""

    def __init__(self, longest_s: float) -> None:
        """Wait so long for each answer."""
        self._longest_s: Final = longest_s
        self._given_up: threading.Thread | None = None

    def answer(self, question: Callable[[], T]) -> T:
        """The answer, or what the question raises."""
        if self._given_up is not None and self._given_up.is_alive():
            raise NoAnswerError
        asking = _Asking(question)
        try:
            asking.start()
        except RuntimeError as error:  # no new thread at the end of the interpreter
            let_through(error)
            return question()
        asking.join(self._longest_s)
        if asking.is_alive():
            self._given_up = asking
            raise NoAnswerError
        if asking.error is not None:
            raise asking.error
        return asking.answer[0]
