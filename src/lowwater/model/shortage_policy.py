"""Every threshold of the decision why memory ran out: unit, reason, and what stands behind it.

These are judgements. They were set on ten small programs that run out of memory on purpose
(tests/integration/test_autopsy.py, tests/devices/test_autopsy.py) and on runs that are only told
(tests/unit/verdict/test_autopsy.py). No error rate is known of them.

They stand apart from `model/policy.py`, because `benchmarks/policy.py` varies each field of that,
and no recording in tests/recordings ran out of memory.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ShortagePolicy:
    """What counts as much, as filled, as early, and as a rise, where memory ran out."""

    # ── A request that was refused ───────────────────────────────────────────────────────────
    # Share of the limit. Where so much was free, it was not for want of memory: not even a leak is
    # the reason, as it fills what there is: one of 4 MiB a round left 2 of a pool of 100. A guess.
    much_free: float = 1 / 4
    # Share of the limit. A step that needs less is not called too big because of what stays in use.
    # A guess.
    large_step: float = 1 / 4

    # ── What has filled it ───────────────────────────────────────────────────────────────────
    # Share of what was free in the first rounds. Who was killed may have asked for any amount: a
    # leak of less than this has not ended the run. A guess: more likely than not.
    leak_fills: float = 1 / 2
    # Share of the machine's memory. With less of it at its peak, a program that was killed has not
    # filled the machine itself. A guess: more likely than not.
    own_part: float = 1 / 2
    # Share of the time between the first mark and the last: what is called the first rounds. A
    # guess.
    early: float = 1 / 4
    # Samples. With fewer it is not known how little was ever in use. A guess.
    fewest_seen: int = 3

    # ── What only looks like a leak: the answer is *inconclusive* ────────────────────────────
    # Rises from the second round on, and share of the limit that they must have filled together.
    # One rise is no row, and less has not filled it. A guess.
    fewest_rises: int = 2
    least_rise: float = 1 / 20
    # Share of the limit. Only above it a climb counts: up to half may be filled by imports.
    climbs_above: float = 1 / 2
    # Steps of a climb, and share of the climb that each has to be: what climbs so is filled bit by
    # bit, and not by one large step. A guess.
    fewest_steps: int = 8
    least_step: float = 1 / 50


SHORTAGE_POLICY = ShortagePolicy()
