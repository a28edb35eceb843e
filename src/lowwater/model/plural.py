"""The English plural of a name, which the user may have invented."""

from typing import Final

_ES_ENDINGS: Final = ("s", "x", "sh", "tch")


def plural(name: str) -> str:
    """`epochs`, `batches`, `entries`, `fit calls`."""
    if name.endswith(_ES_ENDINGS):
        return f"{name}es"
    if name.endswith("y") and name[-2:-1] not in tuple("aeiou"):
        return f"{name[:-1]}ies"
    return f"{name}s"
