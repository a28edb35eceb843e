"""What can go wrong for the user, as a tree.

LowwaterError
└── UserError            one line: what is wrong, what was received, what to do
    ├── UsageError       exit code 2
    └── UnreadableInput  exit code 5
"""


class LowwaterError(Exception):
    """The root of everything that Lowwater raises on purpose."""

    exit_code = 1


class UserError(LowwaterError):
    """Something that the user can mend; the message says how."""

    def __init__(self, problem: str, *, received: str | None = None, advice: str = "") -> None:
        """Join the three parts of a good error into one line."""
        parts = [problem]
        if received is not None:
            parts.append(f"(received: {received})")
        line = " ".join(parts) + "."
        super().__init__(f"{line} Try: {advice}" if advice else line)


class UsageError(UserError):
    """The command line cannot be carried out as it was given."""

    exit_code = 2


class UnreadableInput(UserError):
    """A file is damaged, foreign, or from a newer release."""

    exit_code = 5
