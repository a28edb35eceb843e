"""The questions that a verdict asks, each noted where it is answered.

A question that is noted is also compared here, so that what `lowwater report --why` shows is what
was decided by. Not every comparison is a question: some only pick a threshold, or are part of a
test that is noted as a whole, without a number.
"""

import operator
from collections.abc import Callable

from lowwater.model import Question
from lowwater.model.policy import POLICY

_Compare = Callable[[float, float], bool]


class Asked:
    """The questions on one case so far, in order, and under which topic the next one is."""

    def __init__(self) -> None:
        """Nothing was asked yet."""
        # A dict, because a question that is asked twice has one answer.
        self._questions: dict[Question, None] = {}
        self._topic = ""

    @property
    def questions(self) -> tuple[Question, ...]:
        """All of them, in the order in which they were asked."""
        return tuple(self._questions)

    def about(self, topic: str) -> None:
        """Begin a topic."""
        self._topic = topic

    def whether(self, text: str, answer: object, measured: float | None = None) -> bool:
        """Note a question that no threshold answers."""
        return self._note(Question(self._topic, text, bool(answer), measured))

    def at_least(self, text: str, measured: float, name: str, of: float = 1.0) -> bool:
        """Whether it is at least the threshold of that name, which may be a share `of` another."""
        return self._compare(text, measured, ("≥", operator.ge), name, of)

    def at_most(self, text: str, measured: float, name: str, of: float = 1.0) -> bool:
        """Whether it is at most the threshold."""
        return self._compare(text, measured, ("≤", operator.le), name, of)

    def more_than(self, text: str, measured: float, name: str, of: float = 1.0) -> bool:
        """Whether it is more than the threshold."""
        return self._compare(text, measured, (">", operator.gt), name, of)

    def less_than(self, text: str, measured: float, name: str, of: float = 1.0) -> bool:
        """Whether it is less than the threshold."""
        return self._compare(text, measured, ("<", operator.lt), name, of)

    def _compare(
        self, text: str, measured: float, how: tuple[str, _Compare], name: str, of: float
    ) -> bool:
        sign, compare = how
        threshold = _value_of(name)
        answer = bool(compare(measured, threshold * of))
        # Beside a share it is the share that is shown; there is none of nothing.
        shown = float(measured) / of if of > 0 else None
        return self._note(Question(self._topic, text, answer, shown, sign, name, threshold))

    def _note(self, question: Question) -> bool:
        self._questions[question] = None
        return question.answer


class _Unnoted(Asked):
    """Answers, and keeps nothing."""

    def _note(self, question: Question) -> bool:
        return question.answer


# For questions on the way to another one, whose answers nobody will read.
UNNOTED = _Unnoted()


def _value_of(name: str) -> float:
    """A threshold by its name in the policy, or a power of it: `alike**-2`."""
    base, _, power = name.partition("**")
    value = float(getattr(POLICY, base))
    return value ** int(power) if power else value
