"""What can go wrong for the user, as a tree.

LowwaterError
├── UserError                 one line: what is wrong, what was received, what to do
│   ├── UsageError            exit code 2
│   ├── UnreadableInput       exit code 5
│   ├── StillInUse            a model at work cannot be released
│   ├── AlreadyReleased       an emptied object was used
│   ├── NotPicklable          it cannot be sent to another process
│   └── StoppedByGuard        a loop was ended before memory runs out
└── ChildDied                 an isolated function ended without a result
    ├── ChildTimedOut         it took too long
    └── ChildOutOfMemory      it needed too much memory
"""

from typing import Any


class LowwaterError(Exception):
    """The root of everything that Lowwater raises on purpose."""

    exit_code = 1

    def __reduce__(self) -> tuple[object, ...]:
        # Python would call the constructor with the finished line, which would finish it again.
        return _restored, (type(self), self.args, {**self.__dict__})


def _restored(
    kind: type[LowwaterError], arguments: tuple[object, ...], attributes: dict[str, object]
) -> LowwaterError:
    # By the base that its layout is from: with `MemoryError` beside it, `kind.__new__` is refused.
    base: Any = kind.__base__
    error: LowwaterError = base.__new__(kind, *arguments)
    error.__dict__.update(attributes)
    return error


class UserError(LowwaterError):
    """Something that the user can fix; the message says how."""

    def __init__(self, problem: str, *, received: str | None = None, advice: str = "") -> None:
        """Join the three parts of a good error into one line."""
        parts = [problem]
        if received is not None:
            parts.append(f"(received: {received})")
        line = " ".join(parts) + "."
        super().__init__(f"{line} Try: {advice}" if advice else line)


class UsageError(UserError):
    """A command, or a call of Lowwater, was used wrongly."""

    exit_code = 2


class UnreadableInput(UserError):
    """A file is damaged, foreign, or from a newer release."""

    exit_code = 5


class StillInUse(UserError):
    """Something cannot be released while it is in use."""


class AlreadyReleased(UserError, AttributeError):
    """An object was used that `release(hollow=True)` or a `lifecycle` has emptied.

    It is an AttributeError too: `hasattr` and `getattr` with a default still work.
    """

    def __init__(self, story: str) -> None:
        """Tell where it was released, and how it could have been kept."""
        super().__init__(
            story, advice="build it again; inside a lifecycle, `life.keep(it)` keeps it alive"
        )


class NotPicklable(UserError):
    """Something cannot be sent to another process."""


class StoppedByGuard(UserError):
    """`lowwater run --guard-raise` has ended a loop at a boundary, before memory runs out."""

    def __init__(self, because: str, *, saved: str = "nothing") -> None:
        """Tell why, and what was saved."""
        super().__init__(
            f"memory is about to run out: {because}; saved: {saved}",
            advice="fix what grows (see the report), or load what was saved in a new process",
        )


class ChildDied(LowwaterError):
    """An isolated function ended without a result: a crash, a signal, or `sys.exit()`."""


class ChildTimedOut(ChildDied, TimeoutError):
    """An isolated function ran longer than its `timeout`; its processes were killed."""


class ChildOutOfMemory(ChildDied, MemoryError):
    """An isolated function needed more memory than it was allowed."""

    def __init__(self, story: str, *, peak_bytes: int | None, limit_bytes: int | None) -> None:
        """Tell the peak and the limit, in words and as numbers."""
        super().__init__(story)
        self.peak_bytes = peak_bytes
        self.limit_bytes = limit_bytes
