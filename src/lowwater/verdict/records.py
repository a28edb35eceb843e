"""Whether kept memory rises, or only keeps the record.

What an allocator keeps is the most that was ever needed at once. Where the need merely varies from
round to round, that still rises now and then, and never falls: by the order of its marks it would
always seem to grow. But new records become rare. If every round is as likely as any other to need
the most, the k-th round does so with a chance of 1 in k, whatever the rounds before have done.
"""

import numpy as np

from lowwater.model.policy import POLICY
from lowwater.verdict.asked import UNNOTED, Asked
from lowwater.verdict.series import Series


def rises_beyond_records(series: Series, asked: Asked = UNNOTED) -> bool:
    """Whether there were more new records than a need that only varies would set by chance."""
    highest = np.maximum.accumulate(series.y)
    records = int(np.count_nonzero(np.diff(highest) >= POLICY.resolution_bytes))
    chance = chance_of_records(len(series), records)
    return asked.less_than("Fragmented: too many highs for chance?", chance, "by_chance")


def chance_of_records(rounds: int, records: int) -> float:
    """How likely so many records, or more, are after the first of so many rounds."""
    # How likely each number of records is; one more round adds one with its own chance.
    likely = np.zeros(rounds + 1)
    likely[0] = 1.0
    for number in range(2, rounds + 1):
        likely[1:] = likely[1:] * (1 - 1 / number) + likely[:-1] / number
        likely[0] *= 1 - 1 / number
    return float(likely[records:].sum())
