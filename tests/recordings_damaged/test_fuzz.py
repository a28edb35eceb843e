"""A damaged recording is refused in a sentence, or reported; nothing else, whatever is damaged.

`LOWWATER_FUZZ=50000 pytest tests/recordings_damaged` tries more; `LOWWATER_FUZZ_SEED` others.
"""

import os
import random
from pathlib import Path

import pytest

CASES = int(os.environ.get("LOWWATER_FUZZ", "400"))
SEED = os.environ.get("LOWWATER_FUZZ_SEED", "0")
PARTS = 8


@pytest.mark.parametrize("part", range(PARTS))
def test_any_damage_is_refused_or_reported(damage, read_back, part, tmp_path):
    outcomes = set()
    for case in range(part, CASES, PARTS):
        how, data = damage.done_with(random.Random(f"{SEED}.{case}"))
        try:
            outcomes.add(read_back(data))
        except Exception as error:
            kept = Path(tmp_path, f"{case}.lw")
            kept.write_bytes(data)
            error.add_note(f"case {SEED}.{case}: {how}, kept in {kept}")
            raise

    assert outcomes == {True, False}
