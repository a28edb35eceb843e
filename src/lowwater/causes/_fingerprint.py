"""A name for a leak that is the same in every run and on every machine."""

import re
from hashlib import sha1

from lowwater.causes import _kinds
from lowwater.causes._trace import suspects
from lowwater.model import Evidence, Holder, Step

_LENGTH = 12
_INDEX = re.compile(r"\[[^\]]*\]")


def fingerprint(code: str, holder: Holder, evidence: Evidence) -> str:
    """Of the code and the suspect edges alone: no lines, no counts, no indexes."""
    edges = (_edge(owner, step) for owner, step in suspects(holder, evidence))
    return digest(code, *edges)


def digest(*words: str) -> str:
    """Twelve hexadecimal digits of these words."""
    return sha1("\n".join(words).encode(), usedforsecurity=False).hexdigest()[:_LENGTH]


def _edge(owner: Step, step: Step) -> str:
    """`SavePredictions.saved list`: a script's classes are the same under any module name."""
    names = _kinds.class_name(owner.type), _kinds.class_name(step.type)
    return f"{names[0]}{_INDEX.sub('[*]', step.edge)} {names[1]}"
