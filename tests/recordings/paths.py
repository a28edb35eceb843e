"""Prints each path that grew in a recording as `a_holder(…)`, ready for the test of a cause.

python -P tests/recordings/paths.py run.lw
"""

import sys
from collections.abc import Iterator

from lowwater.model import Holder, Step
from lowwater.recording.reader import load


def main(source: str) -> None:
    """One expression of `lowwater.testing` for each holder."""
    paths = ("\n".join(_lines(holder)) for holder in load(source).holders)
    sys.stdout.write("\n\n".join(paths) + "\n")


def _lines(holder: Holder) -> Iterator[str]:
    first, last = holder.counts[0], holder.counts[-1]
    yield f"# {first} → {last} items, {holder.grown_bytes:,} bytes of the growth"
    yield "a_holder("
    yield from (f"    {_told(step)}," for step in holder.steps)
    yield f"    grows={holder.steps[holder.container].edge!r},"
    if holder.sites:
        yield f"    added_at={holder.sites[0].where!r},"
    yield f"    is_users={holder.is_users},"
    yield ")"


def _told(step: Step) -> str:
    bases = [kind for kind in step.kinds if kind not in (step.type, "object", "builtins.object")]
    given = [repr(one) for one in (step.edge, step.type, *bases)]
    given += [f"about={step.about!r}"] if step.about else []
    given += [f"where={step.where!r}"] if step.where else []
    return f"a_step({', '.join(given)})"


if __name__ == "__main__":
    main(sys.argv[1])
